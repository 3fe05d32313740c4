#![allow(clippy::expect_used, reason = "tests")]

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::store::{Entry, FILE, New};
use crate::testing::Scratch;

const NONE: Duration = Duration::ZERO;

fn store(scratch: &Scratch) -> Store {
    Store::at(scratch.path().join(FILE)).expect("open")
}

fn this() -> Worker {
    Worker::this().expect("this process")
}

/// Who once had this process's pid.
fn dead() -> Worker {
    let mut worker = this();
    worker.start += 1;
    worker
}

fn begun(store: &mut Store, driver: &Worker) -> FlowId {
    let new = NewFlow {
        name: "w".into(),
        request: json!({}),
        steps: vec!["w[0]".into(), "w[1]".into()],
        allowed: Some(7),
    };
    store.begin_flow(&new, Some(driver), Millis(1)).expect("begin")
}

fn task(id: &FlowId, node: usize, driver: &Worker) -> New {
    New {
        caller: "c".parse().expect("a name"),
        parent: None,
        session: None,
        agent: None,
        cli: None,
        request: json!({}),
        entry: Entry::Queue,
        waiter: None,
        step: Some(StepTask {
            flow: id.clone(),
            node,
            driver: driver.clone(),
            told: "[]".into(),
        }),
    }
}

fn end(node: usize, state: StepState) -> StepEnd {
    StepEnd {
        node,
        state,
        result: json!({"status": state.as_str()}),
        used: Used::default(),
    }
}

#[test]
fn a_step_and_its_task_begin_together_and_once() {
    let scratch = Scratch::new();
    let (mut store, driver) = (store(&scratch), this());
    let id = begun(&mut store, &driver);
    let first = store.enqueue(&task(&id, 0, &driver), Millis(2)).expect("enqueue");
    let second = store.enqueue(&task(&id, 0, &driver), Millis(3));
    assert!(matches!(second, Err(StoreError::NoStep(_, 0))), "{second:?}");
    // Nothing of the second is there.
    assert_eq!(store.list(None, 9).expect("list").len(), 1);
    let steps = store.flow_steps(&id).expect("steps");
    let seen: Vec<_> = steps.iter().map(|step| (step.state, step.task.clone())).collect();
    assert_eq!(seen, [(StepState::Running, Some(first)), (StepState::Waiting, None)]);
    assert_eq!(store.flow_told(&id, 0).expect("told"), Some(json!([])));
    assert_eq!(store.flow_told(&id, 1).expect("told"), None);
}

#[test]
fn what_has_ended_does_not_change() {
    let scratch = Scratch::new();
    let (mut store, driver) = (store(&scratch), this());
    let id = begun(&mut store, &driver);
    let done = [end(0, StepState::Error), end(1, StepState::Skipped)];
    store.end_steps(&id, &driver, &done, NONE, Millis(2)).expect("end");
    let again = store.end_steps(&id, &driver, &[end(0, StepState::Error)], NONE, Millis(3));
    assert!(matches!(again, Err(StoreError::NoStep(_, 0))), "{again:?}");
    assert!(store.enqueue(&task(&id, 1, &driver), Millis(3)).is_err());
    let finish = |store: &mut Store| store.finish_flow(&id, &driver, FlowState::Error, &Value::Null, NONE, Millis(4));
    finish(&mut store).expect("finish");
    assert!(matches!(finish(&mut store), Err(StoreError::FlowLost(_))));
    let taken = store.take_flow(&id, &driver, Millis(5)).expect("take");
    assert_eq!(taken, Taken::Over(FlowState::Error));
    assert!(!store.ask_flow_end(&id).expect("ask"));
}

#[test]
fn a_living_driver_is_left_alone_and_a_dead_one_replaced() {
    let scratch = Scratch::new();
    let mut store = store(&scratch);
    let id = begun(&mut store, &this());
    let mut other = this();
    other.pid = 1;
    let taken = store.take_flow(&id, &other, Millis(2)).expect("take");
    assert_eq!(taken, Taken::Driven(this()));
    let id = begun(&mut store, &dead());
    assert!(matches!(
        store.take_flow(&id, &this(), Millis(2)).expect("take"),
        Taken::Ours(_)
    ));
    // Who lost it writes nothing any more.
    let late = store.end_steps(&id, &dead(), &[end(0, StepState::Error)], NONE, Millis(3));
    assert!(matches!(late, Err(StoreError::FlowLost(_))), "{late:?}");
    assert!(matches!(
        store.enqueue(&task(&id, 0, &dead()), Millis(3)),
        Err(StoreError::FlowLost(_))
    ));
}

#[test]
fn the_time_that_was_used_never_becomes_less() {
    let scratch = Scratch::new();
    let (mut store, driver) = (store(&scratch), this());
    let id = begun(&mut store, &driver);
    store
        .beat(&id, &driver, Duration::from_secs(5), Millis(9))
        .expect("beat");
    store
        .beat(&id, &driver, Duration::from_secs(4), Millis(10))
        .expect("beat");
    let flow = store.flow(&id).expect("there");
    assert_eq!((flow.used, flow.seen_at), (Duration::from_secs(5), Millis(10)));
    store.pause_flow(&id, &driver, Pause::Paused).expect("pause");
    assert_eq!(store.flow(&id).expect("there").state, FlowState::Paused);
    store
        .pause_flow(&id, &driver, Pause::GoesOn { allowed: Some(14) })
        .expect("on");
    let flow = store.flow(&id).expect("there");
    assert_eq!((flow.state, flow.allowed), (FlowState::Running, Some(14)));
}
