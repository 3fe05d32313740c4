//! Programs at a terminal: a PTY of their own, its size, its keys, its modes.

use std::ffi::OsString;

use glee_tests::{Run, binary};

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::{PATH, Place};

const TERMINAL: &str = include_str!("terminal.py");

/// Runs the scenario, Python against `terminal.py`, with a person's terminal around it; what it prints must be this.
///
/// With `GLEE_TESTS_BARE=1` the same scenario runs without the supervisor, to show what any terminal does.
#[track_caller]
pub(crate) fn at_a_terminal(at: &Place, flags: &[&str], scenario: &str, expected: &str) {
    let mut words: Vec<OsString> = Vec::new();
    if std::env::var_os("GLEE_TESTS_BARE").is_none() {
        words.push(binary().into());
        words.extend(["run", "--policy", "workspace"].map(OsString::from));
        words.extend(flags.iter().map(OsString::from));
        words.push("--".into());
    }
    around(at, words, scenario, expected);
}

/// The same with the supervisor's other commands: RUN is its program alone.
#[track_caller]
pub(crate) fn terminal(at: &Place, scenario: &str, expected: &str) {
    around(at, vec![binary().into()], scenario, expected);
}

#[track_caller]
fn around(at: &Place, words: Vec<OsString>, scenario: &str, expected: &str) {
    let script = format!("{TERMINAL}{scenario}");
    let mut argv = ["python3", "-c", &script].map(OsString::from).to_vec();
    argv.extend(words);
    let run = Run::bare(&at.world)
        .raw_command(argv)
        .env("PATH", PATH)
        .env("TERM", "xterm")
        .env("XDG_CONFIG_HOME", "@CONFIG");
    let seen = Seen::of(&run.go());
    assert_eq!((seen.status, seen.stdout.as_str()), (0, expected), "{}", seen.stderr);
}

claims! {
    fn the_command_has_a_terminal_of_its_own(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'sh', '-c', 'tty; test -t 0 && test -t 1 && test -t 2 && echo three; echo direct > /dev/tty'])
print(t.end(), re.sub('pts/[0-9]+', 'pts/N', t.lines()))
", "0 /dev/pts/N\nthree\ndirect\n\n");
    }

    fn output_of_a_pipeline_has_its_lines_at_the_left(at) {
        at_a_terminal(at, &[], "
# While the run still has the terminal.
t = Terminal(['sh', '-c', shlex.join([*RUN, 'sh', '-c', 'seq 2; sleep 1']) + ' | cat'])
print(t.end(), t.text)
", "0 b'1\\r\\n2\\r\\n'\n");
    }

    fn a_terminal_that_takes_nothing_does_not_hold_up_the_deadline(at) {
        at_a_terminal(at, &["--timeout", "1s"], "
t = Terminal([*RUN, 'yes'])
end = time.monotonic() + 25
while time.monotonic() < end and not over(t.pid): time.sleep(0.1)
print(over(t.pid), t.end())
", "True 124\n");
    }

    fn the_terminal_has_the_callers_size(at) {
        at_a_terminal(at, &[], "
seen = set()
for _ in range(25):  # a size that is set after the command has started is seen too late only sometimes
    t = Terminal([*RUN, 'stty', 'size'], rows=33, columns=101)
    seen.add((t.end(), t.lines()))
print(seen)
", "{(0, '33 101\\n')}\n");
    }

    fn a_resize_reaches_the_command(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'sh', '-c', 'trap \"stty size\" WINCH; echo ready; while :; do sleep 0.05; done'])
t.see('ready'); t.resize(40, 120); t.see('40 120'); t.resize(10, 20); t.see('10 20')
t.type('\\x03'); print(t.end())
", "130\n");
    }

    fn ctrl_c_interrupts_the_foreground_program_and_the_shell_survives(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'bash', '--norc', '--noprofile', '-i'])
t.type('PS1=\"ready\"\"> \"\\n'); t.see('ready> ')
t.type('sleep 60\\n'); t.see('sleep 60'); time.sleep(0.5); t.type('\\x03'); t.see('ready> ')
t.type('echo status $? ali\"\"ve\\n'); print(t.see('status [0-9]+ alive')[0].decode())
t.type('exit 4\\n'); print(t.end())
", "status 130 alive\n4\n");
    }

    fn ctrl_c_ends_a_program_that_does_not_catch_it_with_130(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'sh', '-c', 'echo ready; exec sleep 60']); t.see('ready'); time.sleep(0.2)
t.type('\\x03'); print(t.end())
t = Terminal([*RUN, 'sh', '-c', 'echo ready; exec sleep 60']); t.see('ready'); time.sleep(0.2)
t.type('\\x1c'); print(t.end())
", "130\n131\n");
    }

    fn ctrl_c_ends_a_program_that_has_closed_its_terminal(at) {
        at_a_terminal(at, &["--timeout", "40s"], "
script = 'echo rea\"\"dy; exec sleep 60 0<&- 1>&- 2>&-'
for key in '\\x03', '\\x1c':
    t = Terminal([*RUN, 'sh', '-c', script]); t.see('ready'); time.sleep(0.5)
    t.type(key); print(t.end())
t = Terminal.shell()
t.type(command('sh', '-c', script) + '\\n'); t.see('ready'); time.sleep(0.5)
t.type('\\x1a'); t.see('Stopped'); t.see('ready> '); t.type('fg\\n'); time.sleep(0.5)
t.type('\\x03'); t.see('ready> '); t.type('echo status \"\"$?\\n'); print(t.see('status [0-9]+')[0].decode())
t.type('exit\\n'); t.end()
", "130\n131\nstatus 130\n");
    }

    fn ctrl_d_is_the_end_of_input(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'sh', '-c', 'echo ready; cat; echo end']); t.see('ready')
t.type('line\\n'); t.see('line\\r\\nline'); t.type('\\x04'); t.see('end'); print(t.end())
", "0\n");
    }

    fn colours_and_isatty_are_as_at_any_terminal(at) {
        at.world.dir("@PROJECT/directory");
        at_a_terminal(at, &[], "
python = 'python3 -c \"import sys; print(sys.stdout.isatty(), sys.stdin.isatty())\"'
node = 'node -e \"console.log(String(process.stdout.isTTY))\"'
t = Terminal([*RUN, 'sh', '-c', f'ls -d --color=auto directory; {python}; {node}'])
print(t.end(), repr(t.lines()))
", "0 '\\x1b[0m\\x1b[01;34mdirectory\\x1b[0m\\nTrue True\\ntrue\\n'\n");
    }

    fn a_password_is_read_without_echo(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'python3', '-c', 'import getpass; print(len(getpass.getpass(\"secret? \")))'])
t.see('secret\\\\? '); t.type('hunter2\\n'); print(t.end(), 'hunter2' in t.lines(), t.lines().split()[-1])
", "0 False 7\n");
    }

    fn one_key_at_a_time_is_read_in_raw_mode(at) {
        at_a_terminal(at, &[], "
script = 'stty -echo; echo ready; read -rsn1 a; read -rsn3 b; printf \"%q %q\\\\n\" \"$a\" \"$b\"'
t = Terminal([*RUN, 'bash', '-c', script])
t.see('ready'); t.type('x'); t.type('\\x1b[A'); print(t.end(), t.lines().split('\\n')[1])
", "0 x $'\\E[A'\n");
    }

    fn a_killed_supervisor_leaves_the_terminal_its_modes_unless_somebody_else_has_set_others(at) {
        at_a_terminal(at, &[], "
for policy in 'workspace', 'restricted':
    run = shlex.join([policy if word == 'workspace' else word for word in RUN] + ['sh', '-c', 'echo rea\"\"dy; exec sleep 60'])
    for others in False, True:
        t = Terminal.shell(DASH); wanted = t.modes()
        t.type(run + '\\n'); t.see('ready'); time.sleep(0.3)
        taken = t.modes() != wanted
        if others: wanted[3] ^= termios.ECHONL; termios.tcsetattr(t.fd, termios.TCSANOW, wanted)
        os.kill(os.tcgetpgrp(t.fd), 9)
        end = time.monotonic() + 5
        while t.modes() != wanted and time.monotonic() < end: time.sleep(0.05)
        time.sleep(0.3)
        print(taken, t.modes() == wanted)
        t.type('exit\\n'); t.end()
", "True True\nTrue True\nTrue True\nTrue True\n");
    }

    fn the_modes_of_the_callers_terminal_are_as_before(at) {
        at_a_terminal(at, &["--timeout", "20s"], "
t = Terminal.shell(DASH); before = t.modes()
for script, status in ('stty raw -echo; exit 3', 3), ('stty -echo -icanon; kill -9 $$', 137), ('exit 0', 0):
    t.type(command('sh', '-c', script) + '; echo status \"\"$?\\n'); t.see(f'status {status}'); t.see('ready> ')
    print(script, t.modes() == before)
t.type('exit\\n'); t.end()
", "stty raw -echo; exit 3 True\nstty -echo -icanon; kill -9 $$ True\nexit 0 True\n");
    }

    fn the_commands_terminal_has_the_modes_of_the_callers(at) {
        at_a_terminal(at, &[], "
for modes in 'iutf8', '-iutf8', 'iutf8 erase ^H intr ^X susp undef kill ^K ixoff -echo', '-onlcr -ixon tostop':
    script = 'stty ' + modes + '; stty -g; ' + command('stty', '-g')
    t = Terminal(['sh', '-c', script]); status = t.end(); outer, inner = t.lines().split()
    print(status, outer == inner or (outer, inner))
", &"0 True\n".repeat(4));
    }

    fn a_character_of_two_bytes_is_erased_whole(at) {
        at_a_terminal(at, &[], "
t = Terminal(['sh', '-c', 'stty iutf8; ' + command('sh', '-c', 'echo rea\"\"dy; cat > typed; od -An -tx1 typed')])
t.see('ready'); t.type('aä\\x7fb\\n\\x04'); print(t.end(), t.lines().split('\\n')[-2])
", "0  61 62 0a\n");
    }

    fn a_caller_who_reads_keys_leaves_the_command_a_terminal_of_lines(at) {
        at_a_terminal(at, &[], "
script = 'stty raw -echo iutf8 erase ^H lnext undef; ' + command('sh', '-c', 'echo one; stty -a')
t = Terminal(['sh', '-c', script]); status = t.end()
print(status, b'one\\r\\n' in t.text, re.findall('\\\\b(?:erase|lnext) = [^;]*|-?(?:icanon|isig|iutf8|opost|echo)\\\\b', t.lines()))
", "0 True ['erase = ^H', 'lnext = ^V', 'iutf8', 'opost', 'isig', 'icanon', 'echo']\n");
    }

    fn half_a_megabyte_crosses_the_terminal_unchanged(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'seq', '1', '80000']); print(t.end(), t.lines() == ''.join(f'{n}\\n' for n in range(1, 80001)))
", "0 True\n");
    }

    fn many_typed_lines_arrive_in_order(at) {
        at_a_terminal(at, &[], "
t = Terminal([*RUN, 'sh', '-c', 'stty -echo; echo ready; while read -r n; do echo $n; [ $n = 500 ] && exit; done'])
t.see('ready\\r\\n')
for n in range(1, 501): t.type(f'{n}\\n'); t._read(0)
print(t.end(), t.lines() == 'ready\\n' + ''.join(f'{n}\\n' for n in range(1, 501)))
", "0 True\n");
    }
}
