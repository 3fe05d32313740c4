//! Unix sockets of the host: agents, daemons and editors listen on them, and whoever connects can make them act.

use glee_tests::{Attempt, Leak, Listener, attempt};

/// A server on the host at this path.
fn at(path: &'static str) -> Attempt {
    attempt(format!("@A unix {path} @ID"), Leak::Heard).given(move |w| w.listen_unix(path))
}

fn datagram_at(path: &'static str) -> Attempt {
    attempt(format!("@A unix_datagram {path} @ID"), Leak::Heard).given(move |w| w.listen_unix_datagram(path))
}

claims! {
    socket_in_home_is_not_reached => at("@HOME/.agent.sock"),
    socket_in_home_is_not_reached_under_workspace => at("@HOME/.agent.sock").workspace(),
    socket_in_ssh_directory_is_not_reached => at("@HOME/.ssh/control"),
    socket_outside_is_not_reached => at("@OUT/s"),
    socket_in_tmp_is_not_reached => at("/tmp/glee-@ID/agent.1"),
    socket_in_run_is_not_reached => at("/run/glee-@ID.sock"),
    socket_in_var_run_is_not_reached => at("/var/run/glee-@ID/s"),
    socket_in_dev_shm_is_not_reached => at("/dev/shm/glee-@ID"),
    datagram_socket_outside_is_not_reached => datagram_at("@OUT/s"),
    datagram_socket_in_run_is_not_reached => datagram_at("/run/glee-@ID.sock"),
    abstract_socket_is_not_reached => attempt("@A unix @@glee-@ID @ID", Leak::Heard)
        .given(|w| w.listen(Listener::unix_abstract(&w.fill("glee-@ID")))),
    abstract_socket_is_not_reached_under_workspace => attempt("@A unix @@glee-@ID @ID", Leak::Heard)
        .given(|w| w.listen(Listener::unix_abstract(&w.fill("glee-@ID")))).workspace(),
    abstract_datagram_socket_is_not_reached => attempt("@A unix_datagram @@glee-@ID @ID", Leak::Heard)
        .given(|w| w.listen(Listener::unix_datagram_abstract(&w.fill("glee-@ID")))),
    /// Abstract names are looked up in the network of the socket.
    datagram_socket_as_standard_input_is_refused => attempt("@A unix_from_stdin @@glee-@ID @ID", Leak::Heard)
        .given(|w| w.listen(Listener::unix_datagram_abstract(&w.fill("glee-@ID"))))
        .through(&["@A", "as_stdin", "unix_datagram"]).refused(),
    unconnected_socket_as_standard_input_is_refused => attempt("@A unix_from_stdin @@glee-@ID @ID", Leak::Heard)
        .given(|w| w.listen(Listener::unix_abstract(&w.fill("glee-@ID"))))
        .through(&["@A", "as_stdin", "unix"]).refused(),
    /// A server of the developer's that listens in the checkout: a language server, the file monitor of git, tmux.
    socket_in_a_granted_dot_directory_is_not_reached => at("@HOME/.docker/run/docker.sock").flags(&["--read", "@HOME/.docker"]),
    socket_in_a_writable_dot_directory_is_not_reached => at("@HOME/.docker/run/docker.sock").workspace()
        .flags(&["--write", "@HOME/.docker"]),
    socket_in_the_project_is_not_reached => at("@PROJECT/.server.sock"),
    socket_in_the_project_is_not_reached_under_workspace => at("@PROJECT/.server.sock").workspace(),
    socket_in_the_git_directory_is_not_reached => at("@PROJECT/.git/fsmonitor--daemon.ipc").given(|w| w.git_init())
        .workspace(),
    datagram_socket_in_the_project_is_not_reached => datagram_at("@PROJECT/.server.sock").workspace(),
    socket_in_a_read_grant_is_not_reached => at("@OUT/s").flags(&["--read", "@OUT"]),
    link_in_the_project_does_not_lead_to_a_socket => attempt("@A unix link @ID", Leak::Heard)
        .given(|w| { w.listen_unix("@OUT/s"); w.link("@OUT/s", "@PROJECT/link"); }),
    abstract_sockets_of_the_host_are_not_listed => attempt("cat /proc/net/unix /proc/1/net/unix", Leak::Seen(|w, o| {
        o.says(&w.fill("glee-@ID")).then(|| "the host's socket is listed".into())
    })).given(|w| w.listen(Listener::unix_abstract(&w.fill("glee-@ID")))),
}
