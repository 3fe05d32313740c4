//! The supervisor as a job of the caller's interactive shell: suspended, resumed, in the background, in pipelines.

use std::time::Duration;

use glee_tests::{carrying, wait_until};

use crate::claims::claims;
use crate::interactive::at_a_terminal;

claims! {
    fn ctrl_z_suspends_and_fg_resumes(at) {
        at_a_terminal(at, &[], "
t = Terminal.shell()
t.type(command('sh', '-c', 'echo up\"\"now; read line; echo \"got $line\"; exit 5') + '\\n')
t.see('upnow'); time.sleep(0.3)
t.type('\\x1a'); t.see('Stopped'); t.see('ready> ')
t.type('echo at the sh\"\"ell\\n'); t.see('at the shell'); t.see('ready> ')
t.type('fg\\n'); t.see('sh -c'); time.sleep(0.3)
t.type('words\\n'); t.see('got words'); t.see('ready> ')
t.type('echo status \"\"$?\\n'); print(t.see('status [0-9]+')[0].decode())
t.type('exit\\n'); print(t.end())
", "status 5\n0\n");
    }

    fn ctrl_z_stops_the_command_itself(at) {
        at_a_terminal(at, &[], "
t = Terminal.shell()
# Not a shell's loop: dash waits for a child that was stopped before it could exec, and does not stop itself, here as anywhere.
ticking = 'use IO::Handle; open F, q(>>), q(ticks); F->autoflush; while (1) { print F q(x); select undef, undef, undef, 0.05 }'
t.type(command('perl', '-e', ticking) + '\\n')
while not (os.path.exists('ticks') and os.path.getsize('ticks') > 10): time.sleep(0.05)
t.type('\\x1a'); t.see('Stopped'); t.see('ready> '); time.sleep(0.3)
before = os.path.getsize('ticks'); time.sleep(0.5); print(os.path.getsize('ticks') == before)
t.type('fg\\n'); time.sleep(0.5); print(os.path.getsize('ticks') > before)
t.type('\\x03'); t.see('ready> '); t.type('exit\\n'); t.end()
", "True\nTrue\n");
    }

    fn names_stay_covered_while_the_supervisor_is_suspended(at) {
        at_a_terminal(at, &[], "
os.system('git init -q .')
t = Terminal.shell()
writes = '(for i in $(seq 100); do echo \"# evil\" >> .git/config; sleep 0.05; done) 2>/dev/null & sleep 0.7; kill -STOP $$; echo wo\"\"ken; kill $!'
t.type(command('sh', '-c', writes) + '\\n'); t.see('Stopped'); t.see('ready> ')
os.system('cp .git/config .git/new && mv .git/new .git/config'); time.sleep(1)
print('evil' in open('.git/config').read())
t.type('fg\\n'); t.see('woken'); t.see('ready> ')
os.system('cp .git/config .git/new && mv .git/new .git/config'); print('evil' in open('.git/config').read())
t.type('exit\\n'); t.end()
", if std::env::var_os("GLEE_TESTS_BARE").is_some() { "True\nTrue\n" } else { "False\nFalse\n" });
    }

    fn names_stay_covered_after_a_suspension(at) {
        at_a_terminal(at, &[], "
os.system('git init -q .')
t = Terminal.shell()
t.type(command('sh', '-c', 'kill -STOP $$; echo wo\"\"ken; read line; echo \"# evil\" >> .git/config; echo do\"\"ne') + '\\n')
t.see('Stopped'); t.see('ready> '); t.type('fg\\n'); t.see('woken')
os.system('cp .git/config .git/new && mv .git/new .git/config'); time.sleep(0.5)
t.type('go\\n'); t.see('done'); t.see('ready> '); print('evil' in open('.git/config').read())
t.type('exit\\n'); t.end()
", if std::env::var_os("GLEE_TESTS_BARE").is_some() { "True\n" } else { "False\n" });
    }

    fn a_suspended_supervisor_that_is_killed_leaves_nothing(at) {
        let id = at.world.nonce();
        let scenario = format!("
t = Terminal.shell()
t.type(command('sh', '-c', 'sleep 300 & kill -STOP $$; sleep 300', '{id}') + '\\n')
t.see('Stopped'); t.see('ready> '); t.type('kill -9 %1\\n'); t.see('ready> ')
time.sleep(0.5); t.type('echo go\"\"ne\\n'); t.see('gone'); t.see('ready> ')
print('killed')
# A shell that has not noticed yet wants to be told twice.
t.type('exit\\nexit\\n'); t.end()
");
        at_a_terminal(at, &[], &scenario, "killed\n");
        assert!(wait_until(Duration::from_secs(10), || carrying(id).is_empty()), "alive: {:?}", carrying(id));
    }

    fn the_shell_has_its_own_modes_while_the_command_is_suspended(at) {
        at_a_terminal(at, &[], "
t = Terminal.shell(); before = t.modes()
t.type(command('sh', '-c', 'stty -echo; echo up\"\"now; read line; echo \"got $line\"') + '\\n')
t.see('upnow'); time.sleep(0.3)
t.type('\\x1a'); t.see('Stopped'); t.see('ready> '); print(t.modes() == before)
t.type('fg\\n'); t.see('sh -c'); time.sleep(0.3); t.type('words\\n'); t.see('got words'); t.see('ready> ')
t.type('exit\\n'); t.end()
", "True\n");
    }

    fn a_run_in_the_background_ends_without_the_terminal(at) {
        at_a_terminal(at, &[], "
t = Terminal.shell()
t.type(command('sh', '-c', 'sleep 0.2; exit 3') + ' & wait $!; echo status \"\"$?\\n')
print(t.see('status [0-9]+')[0].decode())
t.type('exit\\n'); t.end()
", "status 3\n");
    }

    fn stdin_from_a_pipe_and_stdout_to_a_terminal(at) {
        at_a_terminal(at, &[], "
inner = command('sh', '-c', 'cat; test -t 0 || echo in is no terminal; test -t 1 && echo out is')
t = Terminal(['sh', '-c', 'echo data | ' + inner])
print(t.end(), t.lines())
", "0 data\nin is no terminal\nout is\n\n");
    }

    fn stdin_from_a_terminal_and_stdout_to_a_pipe(at) {
        at_a_terminal(at, &[], "
inner = command('sh', '-c', 'test -t 0 && echo in is; test -t 1 || echo out is no terminal')
t = Terminal(['sh', '-c', inner + ' | cat -A'])
print(t.end(), t.lines())
", "0 in is$\nout is no terminal$\n\n");
    }

    fn stderr_redirected_stays_apart_from_the_terminal(at) {
        at_a_terminal(at, &[], "
t = Terminal(['sh', '-c', command('sh', '-c', 'echo out; echo err >&2') + ' 2> errors; cat errors | sed s/^/file:/'])
print(t.end(), t.lines())
", "0 out\nfile:err\n\n");
    }

    fn a_pipeline_whose_reader_ends_first_ends(at) {
        at_a_terminal(at, &[], "
t = Terminal(['bash', '-c', command('yes') + ' | head -n 1; echo ${PIPESTATUS[0]}'])
print(t.end(), t.lines())
", "0 y\n141\n\n");
    }

    fn a_closed_window_ends_the_command(at) {
        let id = at.world.nonce();
        let scenario = format!("
t = Terminal([*RUN, 'sh', '-c', 'echo up\"\"now; sleep 300; :', '{id}']); t.see('upnow')
os.close(t.fd); print(os.waitstatus_to_exitcode(os.waitpid(t.pid, 0)[1]) != 0)
");
        at_a_terminal(at, &[], &scenario, "True\n");
        assert!(wait_until(Duration::from_secs(10), || carrying(id).is_empty()), "alive: {:?}", carrying(id));
    }
}
