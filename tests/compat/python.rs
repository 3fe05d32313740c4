//! Python: processes, semaphores in `/dev/shm`, sqlite, virtual environments, asyncio, its own web server.

use crate::claims::claims;

claims! {
    fn python_multiprocessing_pool_maps_over_processes(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
from multiprocessing import Pool
def square(n): return n * n
if __name__ == '__main__':
    with Pool(4) as pool: print(sum(pool.map(square, range(100))))
PY");
        at.prints("python3 main.py", "328350\n");
    }

    fn python_multiprocessing_manager_shares_a_dict(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
from multiprocessing import Manager, Process
def fill(shared, n): shared[n] = n * 2
if __name__ == '__main__':
    with Manager() as manager:
        shared = manager.dict()
        children = [Process(target=fill, args=(shared, n)) for n in range(4)]
        for child in children: child.start()
        for child in children: child.join()
        print(sorted(shared.items()), [child.exitcode for child in children])
PY");
        at.prints("python3 main.py", "[(0, 0), (1, 2), (2, 4), (3, 6)] [0, 0, 0, 0]\n");
    }

    fn python_spawn_start_method_and_queue_work(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import multiprocessing as mp
def put(queue): queue.put('from the child')
if __name__ == '__main__':
    for method in ('spawn', 'forkserver'):
        context = mp.get_context(method)
        queue = context.Queue()
        child = context.Process(target=put, args=(queue,))
        child.start()
        print(method, queue.get(timeout=20))
        child.join()
PY");
        at.prints("python3 main.py", "spawn from the child\nforkserver from the child\n");
    }

    fn python_named_semaphores_live_in_dev_shm(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
from multiprocessing import Process, Semaphore, Value
def work(gate, total):
    for _ in range(500):
        with gate: total.value += 1
if __name__ == '__main__':
    gate, total = Semaphore(1), Value('i', 0, lock=False)
    children = [Process(target=work, args=(gate, total)) for _ in range(4)]
    for child in children: child.start()
    for child in children: child.join()
    print(total.value)
PY");
        at.prints("python3 main.py", "2000\n");
    }

    fn python_shm_open_is_shared_between_processes(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
from multiprocessing import Process, shared_memory
def write(name):
    block = shared_memory.SharedMemory(name); block.buf[:5] = b'hello'; block.close()
if __name__ == '__main__':
    block = shared_memory.SharedMemory(create=True, size=1 << 20)
    child = Process(target=write, args=(block.name,)); child.start(); child.join()
    print(bytes(block.buf[:5]), len(block.buf) >= 1 << 20)
    block.close(); block.unlink()
PY");
        at.prints("python3 main.py", "b'hello' True\n");
    }

    fn python_sqlite_in_wal_mode_serves_two_processes(at) {
        at.needs(&["python3", "sqlite3"]);
        at.stage("cat > main.py <<'PY'
import sqlite3, subprocess, sys
def database():
    connection = sqlite3.connect('data.db', timeout=20)
    print(connection.execute('pragma journal_mode=wal').fetchone()[0])
    connection.execute('create table if not exists t (n integer)')
    return connection
connection = database()
if len(sys.argv) == 1:
    with connection: connection.executemany('insert into t values (?)', [(n,) for n in range(1000)])
    subprocess.run([sys.executable, __file__, 'child'], check=True, stdout=subprocess.DEVNULL)
    print(connection.execute('select count(*), sum(n) from t').fetchone())
    print(connection.execute('pragma integrity_check').fetchone()[0])
else:
    with connection: connection.execute('insert into t values (500)')
PY");
        at.prints("python3 main.py", "wal\n(1001, 500000)\nok\n");
        at.finds("sqlite3 data.db 'select count(*) from t'", "1001\n");
    }

    fn python_venv_has_pip_and_its_own_prefix(at) {
        at.needs(&["python3"]);
        at.needs_python_module("ensurepip", "python3-venv");
        at.prints(
            "python3 -m venv env && . env/bin/activate
             python -c 'import sys, os; print(sys.prefix == os.path.realpath(\"env\"))'
             pip --version | cut -d' ' -f1",
            "True\npip\n",
        );
    }

    fn python_asyncio_runs_subprocesses_side_by_side(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import asyncio
async def one(n):
    child = await asyncio.create_subprocess_exec('sh', '-c', f'sleep 0.05; echo {n}', stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate()
    return out.decode().strip(), child.returncode
async def main(): print(await asyncio.gather(*(one(n) for n in range(8))))
asyncio.run(main())
PY");
        at.prints(
            "python3 main.py",
            "[('0', 0), ('1', 0), ('2', 0), ('3', 0), ('4', 0), ('5', 0), ('6', 0), ('7', 0)]\n",
        );
    }

    fn python_http_server_answers_urllib_inside(at) {
        at.needs(&["python3"]);
        at.stage("echo page > page.txt; cat > main.py <<'PY'
import http.server, threading, urllib.request
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}/page.txt', timeout=20) as reply:
    print(reply.status, reply.read())
server.shutdown()
PY");
        at.prints("python3 main.py", "200 b'page\\n'\n");
    }

    fn python_reads_itself_in_proc(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import os, re, sys
read = lambda name: open(f'/proc/self/{name}', 'rb').read()
print(read('cmdline').split(b'\\0')[1:-1], read('comm'), os.readlink('/proc/self/cwd') == os.getcwd())
print(os.path.realpath('/proc/self/exe') == os.path.realpath(sys.executable))
print(int(re.search(rb'^Pid:\\s+(\\d+)', read('status'), re.M)[1]) == os.getpid() == int(read('stat').split()[0]))
print(b'[stack]' in read('maps'), b'Max open files' in read('limits'), len(read('mountinfo')) > 0)
print(read('environ').count(b'HOME='), sorted(map(int, os.listdir('/proc/self/fd')))[:3], os.cpu_count() >= 1)
print(all(int(line.split()[1]) > 0 for line in open('/proc/meminfo') if line.startswith('MemTotal')))
PY");
        at.prints(
            "python3 main.py",
            "[b'main.py'] b'python3\\n' True\nTrue\nTrue\nTrue True True\n1 [0, 1, 2] True\nTrue\n",
        );
    }
}
