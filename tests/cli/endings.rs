//! A hard ending (the deadline, the supervisor's own end by a signal): the terminal after it, and what is said.

use crate::claims::claims;
use crate::interactive::at_a_terminal;
use crate::seen::Seen;

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

    fn what_is_said_while_the_command_writes_comes_in_one_piece(at) {
        let packets = "\
import os, subprocess, sys
r, w = os.pipe2(os.O_DIRECT)
subprocess.run(sys.argv[1:], stderr=w)
os.close(w)
while packet := os.read(r, 4096): print(packet.decode(), end='|')
";
        let run = at.call(["run", "--timeout", "1s", "--", "sleep", "60"]);
        let seen = Seen::of(&run.through(["python3", "-c", packets]).go());
        let said = "glee-supervisor: the time limit of 1s is over; the command is asked to end and killed in 2s\n|";
        assert_eq!((seen.status, seen.stdout.as_str()), (0, said), "{}", seen.stderr);
    }
}
