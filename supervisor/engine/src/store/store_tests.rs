#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::label::Label;
use crate::testing::Scratch;

const MANY: Limits = Limits {
    max_concurrent: 1000,
    rate_limit_per_min: None,
};

fn store(scratch: &Scratch) -> Store {
    Store::at(scratch.path().join(FILE)).expect("open")
}

fn label(text: &str) -> Label {
    text.parse().expect("a name")
}

fn new(caller: &str) -> New {
    New {
        caller: label(caller),
        parent: None,
        session: None,
        agent: None,
        cli: Some(label("codex")),
        request: json!({"prompt": "x"}),
        entry: Entry::Queue,
        waiter: None,
        step: None,
    }
}

fn worker(pid: u32) -> Worker {
    Worker {
        pid,
        start: 1,
        boot: "boot".into(),
        namespace: "pid:[1]".into(),
    }
}

fn at(n: u64) -> Millis {
    Millis(n)
}

fn taken(claimed: Claimed) -> Claim {
    match claimed {
        Claimed::Task(claim) => *claim,
        other @ (Claimed::Nothing | Claimed::Busy | Claimed::Later(_)) => panic!("no task: {other:?}"),
    }
}

fn started(store: &mut Store, claim: Claim) -> Running {
    match store.start(claim, at(1_000_000), at(2)).expect("start") {
        Started::Running(run) => run,
        Started::Cancelled => panic!("cancelled"),
    }
}

fn claim(store: &mut Store, pid: u32) -> Claim {
    taken(store.claim(&worker(pid), &MANY, at(1)).expect("claim"))
}

#[test]
fn a_task_goes_from_the_queue_to_its_result() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let id = store.enqueue(&new("a"), at(1)).expect("enqueue");
    let claimed = claim(&mut store, 7);
    assert_eq!((claimed.task.state, claimed.task.attempt), (State::Claimed, 1));
    let run = started(&mut store, claimed);
    assert_eq!(store.get(&id).expect("get").worker, Some(worker(7)));
    assert!(!store.is_cancel_asked(&run).expect("look"));
    store
        .finish(run, Ending::Done, &json!({"output": "y"}), at(3))
        .expect("finish");
    let expected = Task {
        id: id.clone(),
        parent: None,
        depth: 0,
        caller: label("a"),
        session: None,
        agent: None,
        cli: Some(label("codex")),
        state: State::Done,
        attempt: 1,
        cancel_asked: false,
        created_at: at(1),
        started_at: Some(at(2)),
        finished_at: Some(at(3)),
        worker: None,
        until: None,
        request: json!({"prompt": "x"}),
        result: Some(json!({"output": "y"})),
    };
    assert_eq!(store.get(&id).expect("get"), expected);
    assert_eq!(store.counts().expect("counts"), [(State::Done, 1)]);
    assert!(matches!(store.claim(&worker(7), &MANY, at(4)), Ok(Claimed::Nothing)));
    assert_eq!(store.prune(at(4)).expect("prune"), 1);
    assert!(matches!(store.get(&id), Err(StoreError::Missing(_))));
}

#[test]
fn the_queue_goes_round_between_callers_and_new_names_win_nothing() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    for caller in ["a", "a", "a", "b", "b", "c"] {
        store.enqueue(&new(caller), at(1)).expect("enqueue");
    }
    let mut order = String::new();
    for _ in 0..2 {
        order.push_str(claim(&mut store, 1).task.caller.as_str());
    }
    // Everybody who comes later comes after those who already wait for their turn.
    store.enqueue(&new("d"), at(2)).expect("enqueue");
    for _ in 0..5 {
        order.push_str(claim(&mut store, 1).task.caller.as_str());
    }
    assert_eq!(order, "abcabda");
}

#[test]
fn the_limits_hold() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    for _ in 0..5 {
        store.enqueue(&new("a"), at(0)).expect("enqueue");
    }
    let limits = Limits {
        max_concurrent: 2,
        rate_limit_per_min: Some(3),
    };
    let me = worker(1);
    let at_once = |store: &mut Store, now| store.claim(&me, &limits, at(now)).expect("claim");
    let first = taken(at_once(&mut store, 100_000));
    let second = taken(at_once(&mut store, 110_000));
    assert!(matches!(at_once(&mut store, 110_000), Claimed::Busy));
    store.refuse(first, &Value::Null, at(110_001)).expect("refuse");
    let third = taken(at_once(&mut store, 120_000));
    store.refuse(second, &Value::Null, at(120_001)).expect("refuse");
    assert!(matches!(at_once(&mut store, 130_000), Claimed::Later(wait) if wait == Duration::from_secs(30)));
    assert!(matches!(at_once(&mut store, 159_999), Claimed::Later(wait) if wait == Duration::from_millis(1)));
    store.refuse(third, &Value::Null, at(159_999)).expect("refuse");
    taken(at_once(&mut store, 160_000));
    assert!(matches!(at_once(&mut store, 160_000), Claimed::Later(wait) if wait == Duration::from_secs(10)));
    // The clock is set back by an hour: a minute later there is room again.
    let before = 160_000_u64.saturating_sub(150_000);
    assert!(matches!(at_once(&mut store, before), Claimed::Later(wait) if wait == Duration::from_secs(60)));
    taken(at_once(&mut store, before + 60_000));
}

const ONE: Limits = Limits {
    max_concurrent: 1,
    rate_limit_per_min: None,
};

fn child(parent: &TaskId, waiter: Option<Worker>) -> New {
    New {
        parent: Some(parent.clone()),
        waiter,
        ..new("b")
    }
}

#[test]
fn who_waits_for_a_task_of_its_own_lends_it_its_place() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let parent = store.enqueue(&new("a"), at(0)).expect("enqueue");
    let claimed = taken(store.claim(&worker(1), &ONE, at(0)).expect("claim"));
    let _run = started(&mut store, claimed);
    store.enqueue(&new("a"), at(0)).expect("enqueue");
    assert!(matches!(store.claim(&worker(2), &ONE, at(0)), Ok(Claimed::Busy)));
    let waited = store.enqueue(&child(&parent, Some(worker(9))), at(0)).expect("enqueue");
    store.enqueue(&child(&parent, Some(worker(9))), at(0)).expect("enqueue");
    assert_eq!(store.ready(&ONE, at(0)).expect("look"), Ready::Now(1));
    let claimed = taken(store.claim(&worker(2), &ONE, at(0)).expect("claim"));
    assert_eq!((&claimed.task.id, claimed.task.depth), (&waited, 1));
    // One place, lent once: neither its sibling nor anybody else has it.
    assert!(matches!(store.claim(&worker(3), &ONE, at(0)), Ok(Claimed::Busy)));
    assert_eq!(store.ready(&ONE, at(0)).expect("look"), Ready::Nothing);
    let mut above = waited;
    for _ in 2..=8 {
        above = store.enqueue(&child(&above, None), at(0)).expect("enqueue");
    }
    assert!(matches!(
        store.enqueue(&child(&above, None), at(0)),
        Err(StoreError::TooDeep(9))
    ));
}

#[test]
fn who_has_others_work_in_the_background_counts_until_it_looks_after_them() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let parent = store.enqueue(&new("a"), at(0)).expect("enqueue");
    let claimed = taken(store.claim(&worker(1), &ONE, at(0)).expect("claim"));
    let _run = started(&mut store, claimed);
    let left = store.enqueue(&child(&parent, None), at(0)).expect("enqueue");
    assert!(matches!(store.claim(&worker(2), &ONE, at(0)), Ok(Claimed::Busy)));
    store.awaited(&left, at(5)).expect("wait");
    assert!(
        matches!(store.claim(&worker(2), &ONE, at(10_006)), Ok(Claimed::Busy)),
        "too long ago"
    );
    assert_eq!(
        taken(store.claim(&worker(2), &ONE, at(6)).expect("claim")).task.id,
        left
    );
}

#[test]
fn of_a_session_one_task_runs_at_a_time() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let mut task = new("a");
    task.session = Some("task-a1b2c3d4".parse().expect("an id"));
    store.enqueue(&task, at(0)).expect("enqueue");
    store.enqueue(&task, at(0)).expect("enqueue");
    let first = claim(&mut store, 1);
    assert!(matches!(store.claim(&worker(2), &MANY, at(1)), Ok(Claimed::Nothing)));
    store.refuse(first, &Value::Null, at(2)).expect("refuse");
    claim(&mut store, 2);
}

#[test]
fn dead_workers_lose_no_task_and_no_task_starts_twice() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let prepared = store.enqueue(&new("a"), at(0)).expect("enqueue");
    let begun = store.enqueue(&new("a"), at(0)).expect("enqueue");
    let slow = claim(&mut store, 1);
    let second = claim(&mut store, 1);
    let run = started(&mut store, second);
    let nobody = store.recover_by(at(9), |_| Life::Lives).expect("recover");
    assert_eq!(nobody, Recovered::default());
    let unseen = store.recover_by(at(9), |_| Life::Unknown).expect("recover");
    assert_eq!(unseen, Recovered::default());
    let dead = store.recover_by(at(9), |_| Life::Dead).expect("recover");
    assert_eq!((dead.queued, dead.over.len()), (1, 1));
    // The worker was only slow: it can no longer do anything with them.
    assert!(matches!(store.start(slow, at(99), at(10)), Err(StoreError::Lost(_))));
    assert!(store.is_cancel_asked(&run).expect("look"));
    assert!(matches!(
        store.finish(run, Ending::Done, &Value::Null, at(10)),
        Err(StoreError::Lost(_))
    ));
    assert_eq!(store.get(&begun).expect("get").state, State::Failed);
    let again = claim(&mut store, 2);
    assert_eq!((&again.task.id, again.task.attempt), (&prepared, 2));
    let lease = store.recover_by(at(60_002), |_| Life::Unknown).expect("recover");
    assert_eq!((lease.queued, lease.over.len()), (1, 0));
    for _ in 0..3 {
        claim(&mut store, 3);
        store.recover_by(at(9), |_| Life::Dead).expect("recover");
    }
    let task = store.get(&prepared).expect("get");
    assert_eq!((task.state, task.attempt, task.started_at), (State::Failed, 5, None));
}

#[test]
fn cancelling_ends_what_has_not_started_and_asks_the_rest() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let ids: Vec<TaskId> = (0..3)
        .map(|_| store.enqueue(&new("a"), at(0)).expect("enqueue"))
        .collect();
    let claimed = claim(&mut store, 1);
    let second = claim(&mut store, 1);
    let run = started(&mut store, second);
    let cancel = |store: &mut Store, id: &TaskId| store.cancel(id, at(5)).expect("cancel");
    assert_eq!(cancel(&mut store, &ids[2]), Cancel::Cancelled);
    assert_eq!(cancel(&mut store, &ids[2]), Cancel::Over(State::Cancelled));
    assert_eq!(cancel(&mut store, &ids[0]), Cancel::Asked);
    assert_eq!(cancel(&mut store, &ids[1]), Cancel::Asked);
    assert!(matches!(store.start(claimed, at(9), at(6)), Ok(Started::Cancelled)));
    assert!(store.is_cancel_asked(&run).expect("look"));
    store
        .finish(run, Ending::Cancelled, &Value::Null, at(7))
        .expect("finish");
    assert_eq!(store.counts().expect("counts"), [(State::Cancelled, 3)]);
    assert!(matches!(
        store.cancel(&TaskId::fresh(), at(0)),
        Err(StoreError::Missing(_))
    ));
}

#[test]
fn what_needs_approval_is_not_taken_before() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let mut task = new("a");
    task.entry = Entry::Approval;
    let (yes, no) = (
        store.enqueue(&task, at(0)).expect("enqueue"),
        store.enqueue(&task, at(0)).expect("enqueue"),
    );
    assert!(matches!(store.claim(&worker(1), &MANY, at(1)), Ok(Claimed::Nothing)));
    store.approve(&yes).expect("approve");
    store.deny(&no, &json!({"error": "denied"}), at(2)).expect("deny");
    assert_eq!(claim(&mut store, 1).task.id, yes);
    let again = store.approve(&no).expect_err("too late");
    assert!(
        matches!(again, StoreError::NotPossible { is: State::Failed, .. }),
        "{again}"
    );
}

#[test]
fn too_large_is_refused() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let mut task = new("a");
    task.request = Value::String("x".repeat(1 << 20));
    assert!(matches!(
        store.enqueue(&task, at(0)),
        Err(StoreError::TooLarge { what: "request", .. })
    ));
}

/// A task put into a state by the shortest way there is.
fn in_state(store: &mut Store, state: State) -> TaskId {
    let mut task = new("a");
    if state == State::Waiting {
        task.entry = Entry::Approval;
    }
    let id = store.enqueue(&task, at(0)).expect("enqueue");
    match state {
        State::Waiting | State::Queued => {}
        State::Cancelled => {
            store.cancel(&id, at(1)).expect("cancel");
        }
        State::Claimed | State::Running | State::Done | State::Failed | State::Timeout => {
            let mut claimed = claim(store, 1);
            while claimed.task.id != id {
                claimed = claim(store, 1);
            }
            if state != State::Claimed {
                let run = started(store, claimed);
                let ending = match state {
                    State::Done => Some(Ending::Done),
                    State::Failed => Some(Ending::Failed),
                    State::Timeout => Some(Ending::Timeout),
                    State::Waiting | State::Queued | State::Claimed | State::Running | State::Cancelled => None,
                };
                if let Some(ending) = ending {
                    store.finish(run, ending, &Value::Null, at(3)).expect("finish");
                }
            }
        }
    }
    assert_eq!(store.get(&id).expect("get").state, state);
    id
}

#[test]
fn sqlite_allows_the_same_moves_as_the_types() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    for from in State::ALL {
        for to in State::ALL {
            let id = in_state(&mut store, from);
            // Every column as the new state wants it, so that only the move itself can be wrong.
            let works = matches!(to, State::Claimed | State::Running);
            let sql = format!(
                "UPDATE tasks SET state = '{}', finished_at = {}, result = {}, started_at = {}, worker_pid = {w},
                    worker_start = {w}, worker_boot = {w}, worker_namespace = {w}, lease_until = {w} WHERE id = '{id}'",
                to.as_str(),
                if to.is_final() { "5" } else { "NULL" },
                if to.is_final() { "'null'" } else { "NULL" },
                if to == State::Running || to.is_final() {
                    "4"
                } else {
                    "NULL"
                },
                w = if works { "1" } else { "NULL" },
            );
            let moved = store.connection.execute(&sql, []);
            assert_eq!(moved.is_ok(), from.may_become(to), "{from:?} to {to:?}: {moved:?}");
        }
    }
}

#[test]
fn sqlite_keeps_what_belongs_together() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let running = in_state(&mut store, State::Running);
    let done = in_state(&mut store, State::Done);
    let queued = in_state(&mut store, State::Queued);
    for sql in [
        format!("UPDATE tasks SET worker_pid = NULL WHERE id = '{running}'"),
        format!("UPDATE tasks SET lease_until = NULL WHERE id = '{running}'"),
        format!("UPDATE tasks SET state = 'done' WHERE id = '{running}'"),
        format!("UPDATE tasks SET state = 'nonsense' WHERE id = '{running}'"),
        format!("UPDATE tasks SET request = '1' WHERE id = '{running}'"),
        format!("UPDATE tasks SET request = 'no json' WHERE id = '{running}'"),
        format!("UPDATE tasks SET result = '1' WHERE id = '{queued}'"),
        format!("UPDATE tasks SET result = '1' WHERE id = '{done}'"),
        format!("UPDATE tasks SET depth = 1 WHERE id = '{running}'"),
        format!("DELETE FROM tasks WHERE id = '{running}'"),
        "INSERT INTO tasks (id, depth, caller, state, created_at, request)
            VALUES ('abcdefghijklmnopqrstuvwxyz', 0, 'a', 'done', 0, '1')"
            .to_owned(),
    ] {
        let done = store.connection.execute(&sql, []);
        assert!(done.is_err(), "{sql}");
    }
}

#[derive(Debug, Clone)]
enum Act {
    Enqueue(u8, Option<u8>),
    Claim(u32),
    Start(usize),
    Finish(usize),
    Cancel(usize),
    Die(u32),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (0..4_u8, proptest::option::of(0..3_u8)).prop_map(|(caller, session)| Act::Enqueue(caller, session)),
        4 => (1..5_u32).prop_map(Act::Claim),
        3 => (0..8_usize).prop_map(Act::Start),
        2 => (0..8_usize).prop_map(Act::Finish),
        1 => (0..40_usize).prop_map(Act::Cancel),
        1 => (1..5_u32).prop_map(Act::Die),
    ];
    proptest::collection::vec(act, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: no task is lost, none starts twice, no end changes, no limit is passed.
    #[test]
    fn tasks_are_neither_lost_nor_started_twice(acts in acts()) {
        let scratch = Scratch::new();
        let mut store = store(&scratch);
        let limits = Limits { max_concurrent: 3, rate_limit_per_min: None };
        let mut ids: Vec<TaskId> = Vec::new();
        let mut claims: Vec<(u32, Claim)> = Vec::new();
        let mut runs: Vec<(u32, Running)> = Vec::new();
        let mut starts: BTreeMap<TaskId, u32> = BTreeMap::new();
        let mut ends: BTreeMap<TaskId, State> = BTreeMap::new();
        for act in acts {
            match act {
                Act::Enqueue(caller, session) => {
                    let mut task = new(&format!("c{caller}"));
                    task.session = session.map(|n| format!("task-0000000{n}").parse().expect("an id"));
                    ids.push(store.enqueue(&task, at(0)).expect("enqueue"));
                }
                Act::Claim(pid) => if let Claimed::Task(claim) = store.claim(&worker(pid), &limits, at(1)).expect("claim") {
                    claims.push((pid, *claim));
                },
                Act::Start(n) if n < claims.len() => {
                    let (pid, claim) = claims.remove(n);
                    let id = claim.task.id.clone();
                    // A dead one that was only slow tries too.
                    match store.start(claim, at(9), at(2)) {
                        Ok(Started::Running(run)) => {
                            *starts.entry(id).or_default() += 1;
                            runs.push((pid, run));
                        }
                        Ok(Started::Cancelled) | Err(StoreError::Lost(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                Act::Finish(n) if n < runs.len() => {
                    let (_, run) = runs.remove(n);
                    match store.finish(run, Ending::Done, &Value::Null, at(3)) {
                        Ok(()) | Err(StoreError::Lost(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                Act::Cancel(n) if n < ids.len() => {
                    store.cancel(&ids[n], at(4)).expect("cancel");
                }
                Act::Die(pid) => {
                    let life = |w: &Worker| if w.pid == pid { Life::Dead } else { Life::Lives };
                    store.recover_by(at(5), life).expect("recover");
                }
                Act::Start(_) | Act::Finish(_) | Act::Cancel(_) => {}
            }
            let tasks = store.list(None, 1000).expect("list");
            prop_assert_eq!(tasks.len(), ids.len());
            let working: Vec<&Task> = tasks.iter().filter(|t| t.worker.is_some()).collect();
            prop_assert!(working.len() <= 3);
            let mut sessions: Vec<_> = working.iter().filter_map(|t| t.session.as_ref()).collect();
            sessions.sort();
            sessions.dedup();
            prop_assert_eq!(sessions.len(), working.iter().filter(|t| t.session.is_some()).count());
            for task in tasks.iter().filter(|t| t.state.is_final()) {
                let before = ends.entry(task.id.clone()).or_insert(task.state);
                prop_assert_eq!(*before, task.state);
            }
        }
        prop_assert!(starts.values().all(|n| *n == 1), "{:?}", starts);
    }
}

#[test]
fn a_task_is_abandoned_when_its_waiter_or_the_task_above_it_is_gone() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let this = Worker::this().expect("this process");
    let gone = Worker {
        start: this.start + 1,
        ..this.clone()
    };
    let elsewhere = Worker {
        namespace: "pid:[1]".into(),
        ..gone.clone()
    };
    for (waiter, abandoned) in [
        (None, false),
        (Some(this.clone()), false),
        (Some(gone.clone()), true),
        (Some(elsewhere), false),
    ] {
        let waited = New { waiter, ..new("a") };
        let id = store.enqueue(&waited, at(1)).expect("enqueue");
        assert_eq!(store.is_abandoned(&id).expect("look"), abandoned, "{waited:?}");
        store.cancel(&id, at(2)).expect("cancel");
    }
    // The task above: alive, its worker dead, asked to end, over.
    for (worker, end, abandoned) in [(&this, None, false), (&gone, None, true), (&this, Some(()), true)] {
        let parent = store.enqueue(&new("a"), at(1)).expect("enqueue");
        let claim = taken(store.claim(worker, &MANY, at(1)).expect("claim"));
        let run = started(&mut store, claim);
        let below = New {
            parent: Some(parent.clone()),
            ..new("a")
        };
        let id = store.enqueue(&below, at(1)).expect("enqueue");
        if end.is_some() {
            store.cancel(&parent, at(2)).expect("cancel");
        }
        assert_eq!(store.is_abandoned(&id).expect("look"), abandoned);
        store.finish(run, Ending::Done, &json!({}), at(3)).expect("finish");
        assert!(store.is_abandoned(&id).expect("look"), "the task above is over");
        store.cancel(&id, at(4)).expect("cancel");
    }
}

#[test]
fn a_task_asks_for_so_many_others_at_once_and_no_more() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let parent = store.enqueue(&new("a"), at(1)).expect("enqueue");
    let below = New {
        parent: Some(parent),
        ..new("a")
    };
    let ids: Vec<TaskId> = (0..64)
        .map(|_| store.enqueue(&below, at(1)).expect("enqueue"))
        .collect();
    assert!(matches!(
        store.enqueue(&below, at(1)),
        Err(StoreError::TooManyBelow(64))
    ));
    store.enqueue(&new("a"), at(1)).expect("others are not held up");
    assert!(
        matches!(
            store.enqueue(&child(&ids[0], None), at(1)),
            Err(StoreError::TooManyBelow(64))
        ),
        "nor through another"
    );
    store.cancel(&ids[0], at(2)).expect("cancel");
    store.enqueue(&below, at(3)).expect("enqueue");
}

#[test]
fn what_one_task_leads_to_is_bounded_whatever_is_cancelled() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let mut ask = |request: Value| {
        let mut parent = store.enqueue(&new("a"), at(1)).expect("enqueue");
        for asked in 0_u32.. {
            let below = New {
                request: request.clone(),
                ..child(&parent, None)
            };
            match store.enqueue(&below, at(1)) {
                Ok(id) if asked == 0 => parent = id,
                Ok(id) => assert_eq!(store.cancel(&id, at(1)).expect("cancel"), Cancel::Cancelled),
                Err(error) => return (asked, error),
            }
        }
        panic!("without end")
    };
    let (asked, error) = ask(json!(""));
    assert!(
        asked == 1000 && matches!(error, StoreError::TooManyEver(1000)),
        "{asked} {error}"
    );
    let (asked, error) = ask(json!("x".repeat(1_000_000)));
    assert!(
        asked == 67 && matches!(error, StoreError::TooMuchBelow { .. }),
        "{asked} {error}"
    );
}

#[test]
fn tasks_below_one_count_for_its_caller() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let parent = store.enqueue(&new("a"), at(1)).expect("enqueue");
    let kid = store.enqueue(&child(&parent, None), at(1)).expect("enqueue");
    let grandkid = store.enqueue(&child(&kid, None), at(1)).expect("enqueue");
    assert_eq!(store.get(&grandkid).expect("get").caller, label("a"));
}

#[test]
fn only_what_came_from_a_task_is_below_it() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let below = |parent: &TaskId, session: &str| New {
        parent: Some(parent.clone()),
        session: Some(session.parse().expect("a session")),
        ..new("a")
    };
    let root = store.enqueue(&new("a"), at(1)).expect("enqueue");
    let other = store.enqueue(&below_none("task-00000001"), at(1)).expect("enqueue");
    let child = store.enqueue(&below(&root, "task-00000002"), at(1)).expect("enqueue");
    let grandchild = store.enqueue(&below(&child, "task-00000003"), at(1)).expect("enqueue");
    for (id, is) in [
        (&root, false),
        (&other, false),
        (&child, true),
        (&grandchild, true),
        (&TaskId::fresh(), false),
    ] {
        assert_eq!(store.is_below(&root, id).expect("look"), is, "{id}");
    }
    assert!(
        !store.is_below(&child, &root).expect("look"),
        "the task above is not below"
    );
    let listed = store.each_below(&root, Which::All, 10, |task| task).expect("list");
    assert_eq!(
        listed.iter().map(|task| &task.id).collect::<Vec<_>>(),
        [&grandchild, &child]
    );
    assert_eq!(
        store
            .each_below(&root, Which::In(State::Running), 10, |task| task)
            .expect("list"),
        []
    );
    let session = |text: &str| {
        store
            .is_session_below(&root, &text.parse().expect("a session"))
            .expect("look")
    };
    assert_eq!(
        ["task-00000001", "task-00000002", "task-00000003", "task-00000009"].map(session),
        [false, true, true, false]
    );
}

fn below_none(session: &str) -> New {
    New {
        session: Some(session.parse().expect("a session")),
        ..new("a")
    }
}
