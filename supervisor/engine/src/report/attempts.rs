//! Connections that the companion refused, as the report lists them among the denials.

use glee_egress::record::{Attempt, Client as From, Outcome as Verdict};
use glee_sandbox::launch::Client;
use glee_sandbox::plan::Transport;

use super::denials::{Denial, Explainer, NOTHING, What};

/// Who made all of these attempts, if it was one program and everything is known.
fn who(attempt: &Attempt, clients: &[Client]) -> Option<(u32, String)> {
    let known = |from: &From| {
        let (transport, port) = match from {
            From::Tcp(port) => (Transport::Tcp, *port),
            From::Udp(port) => (Transport::Udp, *port),
        };
        let mut found = clients
            .iter()
            .filter(move |c| (c.transport, c.port) == (transport, port));
        let first = found.next()?;
        // A port that was several programs' tells nothing.
        found.all(|other| other.program == first.program).then_some(first)
    };
    let makers: Option<Vec<&Client>> = attempt.clients.iter().map(known).collect();
    let makers = makers?;
    let first = makers.first()?;
    let same = |client: &Client| client.program == first.program;
    // More came than have been kept: they are known only if nobody else connected to anything.
    let all_kept = attempt.others == 0;
    let one = makers.iter().all(|client| same(client)) && (all_kept || clients.iter().all(same));
    one.then(|| (first.pid, first.program.clone()))
}

/// Connections that were refused.
pub(super) fn of_attempts(
    attempts: &[Attempt],
    clients: &[Client],
    explainer: &Explainer<'_>,
) -> impl Iterator<Item = Denial> {
    let refused = attempts.iter().filter(|attempt| attempt.verdict == Verdict::Refused);
    let row = |attempt: &Attempt, (pid, program)| Denial {
        kind: "network",
        syscall: "connect".to_owned(),
        what: What::Host(match attempt.port {
            // A name that was only asked for.
            0 => attempt.host.clone(),
            port => format!("{}:{port}", attempt.host),
        }),
        path_hex: None,
        pid,
        program,
        rule: explainer.clause(attempt),
        hint: attempt.hint.clone().unwrap_or_else(|| NOTHING.to_owned()),
        count: attempt.count,
    };
    refused.map(move |attempt| row(attempt, who(attempt, clients).unwrap_or_default()))
}
