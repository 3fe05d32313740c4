//! Node and npm: workers, children, WebAssembly, fetch; packing and installing without a registry.

use crate::claims::claims;

/// `dep` is a package with a program of its own; the project depends on nothing yet.
const PACKAGES: &str = r#"
    mkdir dep
    echo '{"name":"dep","version":"1.2.3","main":"index.js","bin":{"dep":"cli.js"}}' > dep/package.json
    echo 'module.exports = () => "from dep"' > dep/index.js
    printf '%s\n' '#!/usr/bin/env node' 'console.log("cli " + require("./index.js")())' > dep/cli.js
    chmod +x dep/cli.js
    echo '{"name":"app","version":"0.0.1","scripts":{"hello":"dep && node -p 40+2"}}' > package.json"#;

claims! {
    fn node_spawn_sync_runs_a_child(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > main.js <<'JS'
const { spawnSync } = require('child_process');
const child = spawnSync('sh', ['-c', 'cat; echo err >&2; exit 3'], { input: 'in', encoding: 'utf8' });
console.log(JSON.stringify([child.status, child.stdout, child.stderr]));
JS"#);
        at.prints("node main.js", "[3,\"in\",\"err\\n\"]\n");
    }

    fn node_worker_threads_exchange_messages_and_shared_memory(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > main.js <<'JS'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  let left = 4;
  for (let n = 0; n < 4; n++) {
    new Worker(__filename, { workerData: shared }).on('exit', () => { if (!--left) console.log(shared[0]); });
  }
} else {
  for (let n = 0; n < 1000; n++) Atomics.add(workerData, 0, 1);
}
JS"#);
        at.prints("node main.js", "4000\n");
    }

    fn node_fork_talks_over_its_ipc_channel(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > main.js <<'JS'
const { fork } = require('child_process');
if (process.send) process.on('message', (n) => { process.send(n + 1); process.disconnect(); });
else {
  const child = fork(__filename);
  child.on('message', (n) => console.log(n));
  child.on('exit', (code) => console.log('exit', code));
  child.send(41);
}
JS"#);
        at.prints("node main.js", "42\nexit 0\n");
    }

    fn node_watches_the_whole_project(at) {
        at.needs(&["node", "git"]);
        at.stage(r#"git init -q .; mkdir deep; cat > main.js <<'JS'
const fs = require('fs');
fs.watch('.', { recursive: true }, (event, name) => {
  if (name === 'deep/made') { console.log('seen'); process.exit(); }
});
setTimeout(() => fs.writeFileSync('first', 'x'), 300);
setTimeout(() => fs.writeFileSync('deep/made', 'x'), 600);
setTimeout(() => process.exit(1), 20000);
JS"#);
        at.prints("node main.js", "seen\n");
    }

    fn node_fetch_reaches_a_server_inside(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > main.js <<'JS'
const server = require('http').createServer((req, res) => res.end(req.method + ' ' + req.url));
server.listen(0, 'localhost', async () => {
  const reply = await fetch(`http://localhost:${server.address().port}/path`, { method: 'POST', body: 'x' });
  console.log(reply.status, await reply.text());
  server.close();
});
JS"#);
        at.prints("node main.js", "200 POST /path\n");
    }

    fn node_web_assembly_instantiates_and_grows(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > main.js <<'JS'
// (module (memory (export "m") 1) (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))
const bytes = Buffer.from('0061736d0100000001070160027f7f017f030201000503010001' +
  '070b02016d0200036164640000' + '0a09010700200020016a0b', 'hex');
WebAssembly.instantiate(bytes).then(({ instance: { exports } }) => {
  console.log(exports.add(40, 2), exports.m.grow(1023), exports.m.buffer.byteLength);
});
JS"#);
        at.prints("node main.js", "42 1 67108864\n");
    }

    fn node_watches_a_file_and_streams_a_gzip(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > main.js <<'JS'
const fs = require('fs'), zlib = require('zlib');
fs.writeFileSync('watched', '');
const watcher = fs.watch('watched', (event) => {
  watcher.close();
  fs.writeFileSync('z', zlib.gzipSync('x'.repeat(1e6)));
  console.log(event, zlib.gunzipSync(fs.readFileSync('z')).length);
});
setTimeout(() => fs.appendFileSync('watched', 'x'), 100);
JS"#);
        at.prints("node main.js", "change 1000000\n");
    }

    fn node_test_runner_reports_its_results(at) {
        at.needs(&["node"]);
        at.stage(r#"cat > a.test.js <<'JS'
const test = require('node:test'), assert = require('assert');
test('adds', () => assert.strictEqual(1 + 1, 2));
test('waits', async () => { await new Promise((done) => setTimeout(done, 5)); });
JS"#);
        at.prints("node --test --test-reporter=tap | grep -E '^# (tests|pass|fail)'", "# tests 2\n# pass 2\n# fail 0\n");
    }

    fn npm_pack_makes_a_tarball_of_the_package(at) {
        at.needs(&["npm", "tar"]);
        at.stage(PACKAGES);
        at.prints(
            "npm pack --silent ./dep && tar tzf dep-1.2.3.tgz | sort",
            "dep-1.2.3.tgz\npackage/cli.js\npackage/index.js\npackage/package.json\n",
        );
    }

    fn npm_install_from_a_tarball_and_a_directory_gives_working_programs(at) {
        at.needs(&["npm"]);
        at.stage(PACKAGES);
        at.prints(
            "npm install --silent --offline --no-audit --no-fund ./dep
             npm run --silent hello
             npm pack --silent ./dep > /dev/null && npm uninstall --silent --offline dep
             npm install --silent --offline --no-audit --no-fund ./dep-1.2.3.tgz
             npx --offline dep && node -p 'require(\"dep\")()'",
            "cli from dep\n42\ncli from dep\nfrom dep\n",
        );
    }
}
