//! A terminal after a hard ending: the deadline and the supervisor's own end by a signal.

use crate::claims::claims;
use crate::interactive::at_a_terminal;

claims! {
    fn the_modes_are_restored_after_the_deadline(at) {
        at_a_terminal(at, &["--timeout", "1s"], "
t = Terminal.shell(DASH); before = t.modes()
bare = [] if RUN else ['timeout', '--foreground', '1']
t.type(shlex.join([*RUN, *bare, 'sh', '-c', 'stty -echo; sleep 60']) + '; echo status \"\"$?\\n')
t.see('status 124'); t.see('ready> ')
print(t.modes() == before)
t.type('exit\\n'); t.end()
", "True\n");
    }

    fn the_modes_are_restored_after_a_signal_to_the_supervisor(at) {
        at_a_terminal(at, &[], "
t = Terminal.shell(DASH); before = t.modes()
inner = command('sh', '-c', 'stty -echo; echo up\"\"now; exec sleep 60')
t.type('sh -c ' + shlex.quote('echo pid $$ up; exec ' + inner) + '; echo status \"\"$?\\n')
pid = int(t.see('pid ([0-9]+) up')[1]); t.see('upnow'); os.kill(pid, signal.SIGTERM)
t.see('status 143'); t.see('ready> ')
print(t.modes() == before)
t.type('exit\\n'); t.end()
", "True\n");
    }
}
