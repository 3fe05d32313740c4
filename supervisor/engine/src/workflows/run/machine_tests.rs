//! The rules one by one, and random trees against an interpreter that is written from `docs/workflows.md` and knows nothing of
//! the machine.

use std::collections::BTreeMap;

use super::*;
use StepStatus::{Error, Skipped, Success, Timeout};

fn node(depends: &[usize], on_error: OnError) -> Node {
    Node {
        after: Vec::new(),
        depends: depends.to_vec(),
        on_error,
        failure: Failure::Counts,
        inner: None,
    }
}

fn shape(mode: Execution, steps: Vec<Node>) -> Shape {
    Shape { mode, steps }
}

/// Everything that may start does, one after the other; each ends as `ends` says. Returns how all ended, and the whole.
fn play(shape: &Shape, ends: &BTreeMap<usize, StepStatus>) -> (Vec<StepStatus>, StepStatus) {
    let mut machine = Machine::new(shape);
    loop {
        machine.settle();
        let Some(id) = machine.ready().into_iter().next() else {
            break;
        };
        machine.start(id);
        if !machine.is_inner(id) {
            machine.end(id, ends.get(&id.0).copied().unwrap_or(Success));
        }
    }
    let all = machine.ids().map(|id| match machine.stage(id) {
        Stage::Ended(status) => status,
        other @ (Stage::Waiting | Stage::Running) => panic!("{id:?} is {other:?}"),
    });
    (all.collect(), machine.over().expect("over"))
}

fn chain(on_error: OnError, failure: Failure) -> Shape {
    let step = |at: usize| Node {
        after: at.checked_sub(1).into_iter().collect(),
        failure,
        ..node(&[], on_error)
    };
    shape(Execution::Sequential, (0..3).map(step).collect())
}

#[test]
fn a_sequence_stops_at_a_failure_unless_it_is_to_continue() {
    let ends = BTreeMap::from([(1, Error)]);
    let stop = play(&chain(OnError::Stop, Failure::Counts), &ends);
    assert_eq!(stop, (vec![Success, Error, Skipped], Error));
    let on = play(&chain(OnError::Continue, Failure::Forgiven), &ends);
    assert_eq!(on, (vec![Success, Error, Success], Success));
    let late = play(&chain(OnError::Stop, Failure::Counts), &BTreeMap::from([(0, Timeout)]));
    assert_eq!(late, (vec![Timeout, Skipped, Skipped], Error));
}

#[test]
fn dependents_are_skipped_through_others_and_the_rest_goes_on() {
    let skip = OnError::SkipDependents;
    let dag = shape(
        Execution::Dag,
        vec![node(&[], skip), node(&[0], skip), node(&[1], skip), node(&[], skip)],
    );
    assert_eq!(
        play(&dag, &BTreeMap::from([(0, Error)])),
        (vec![Error, Skipped, Skipped, Success], Error)
    );
}

#[test]
fn a_workflow_inside_fails_as_a_step_does_and_is_skipped_whole() {
    let inner = chain(OnError::Stop, Failure::Counts);
    let mut first = node(&[], OnError::Stop);
    first.inner = Some(inner.clone());
    let mut second = node(&[], OnError::Stop);
    second.after = vec![0];
    second.inner = Some(inner);
    let whole = shape(Execution::Sequential, vec![first, second]);
    // 0 holds 1 to 3, 4 holds 5 to 7.
    assert_eq!(
        play(&whole, &BTreeMap::from([(2, Error)])),
        (
            vec![Error, Success, Error, Skipped, Skipped, Skipped, Skipped, Skipped],
            Error
        )
    );
    assert_eq!(play(&whole, &BTreeMap::new()), (vec![Success; 8], Success));
}

#[test]
fn a_stop_reaches_what_runs_below_it() {
    let mut inner = node(&[], OnError::Continue);
    inner.inner = Some(chain(OnError::Stop, Failure::Counts));
    let whole = shape(Execution::Parallel, vec![inner, node(&[], OnError::Stop)]);
    let mut machine = Machine::new(&whole);
    machine.settle();
    assert_eq!(machine.ready(), [NodeId(0), NodeId(4)]);
    for id in machine.ready() {
        machine.start(id);
    }
    assert_eq!(machine.ready(), [NodeId(1)]);
    machine.start(NodeId(1));
    machine.end(NodeId(4), Error);
    machine.settle();
    assert!(machine.ready().is_empty());
    assert_eq!(machine.stage(NodeId(2)), Stage::Ended(Skipped));
    // What runs ends by itself, and what was begun above it is then over.
    machine.end(NodeId(1), Success);
    machine.settle();
    assert_eq!(
        (machine.stage(NodeId(0)), machine.over()),
        (Stage::Ended(Error), Some(Error))
    );
}

#[test]
fn a_halt_skips_everything_that_waits_and_the_first_word_counts() {
    let mut machine = Machine::new(&chain(OnError::Stop, Failure::Counts));
    machine.start(NodeId(0));
    machine.halt(Timeout);
    machine.halt(Error);
    assert!(machine.ready().is_empty());
    machine.settle();
    assert_eq!(machine.over(), None);
    machine.end(NodeId(0), Timeout);
    assert_eq!(machine.over(), Some(Timeout));
}

#[test]
fn what_has_ended_stays_as_it_ended() {
    let mut machine = Machine::new(&chain(OnError::Stop, Failure::Counts));
    machine.start(NodeId(0));
    machine.end(NodeId(0), Success);
    machine.end(NodeId(0), Error);
    machine.start(NodeId(0));
    assert_eq!(machine.stage(NodeId(0)), Stage::Ended(Success));
}

#[test]
fn a_workflow_says_what_its_last_steps_said() {
    let dag = shape(
        Execution::Dag,
        vec![
            node(&[], OnError::Stop),
            node(&[0], OnError::Stop),
            node(&[0], OnError::Stop),
        ],
    );
    assert_eq!(Machine::new(&dag).last(None), [NodeId(1), NodeId(2)]);
    let mut machine = Machine::new(&chain(OnError::Continue, Failure::Forgiven));
    assert_eq!(machine.last(None), []);
    machine.end(NodeId(0), Success);
    machine.end(NodeId(1), Success);
    machine.end(NodeId(2), Error);
    assert_eq!(machine.last(None), [NodeId(1)]);
}

/// Numbers by which a failing case can be found again.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }
}

fn random(numbers: &mut Numbers, depth: usize) -> Shape {
    let mode = [Execution::Sequential, Execution::Parallel, Execution::Dag][numbers.below(3)];
    let count = 1 + numbers.below(6);
    let steps = (0..count).map(|at| {
        let mut some = |most: usize| -> Vec<usize> { (0..at).filter(|_| numbers.below(most) == 0).collect() };
        let depends = some(3);
        let after = match mode {
            Execution::Sequential => at.checked_sub(1).into_iter().collect(),
            Execution::Parallel => some(4),
            Execution::Dag => Vec::new(),
        };
        let on_error = [OnError::Continue, OnError::Stop, OnError::SkipDependents][numbers.below(3)];
        let failure = if on_error == OnError::Continue && numbers.below(2) == 0 {
            Failure::Forgiven
        } else {
            Failure::Counts
        };
        let inner = (depth > 0 && numbers.below(4) == 0).then(|| random(numbers, depth - 1));
        Node {
            after,
            depends,
            on_error,
            failure,
            inner,
        }
    });
    Shape {
        mode,
        steps: steps.collect(),
    }
}

/// What the document says, step by step in the order of the file. Only where nothing stops anything: with a stop the moment
/// decides what had begun, and `checked` looks at that.
fn reference(shape: &Shape, ends: &[StepStatus], at: &mut usize, skipped: bool) -> (Vec<StepStatus>, StepStatus) {
    let (mut own, mut all) = (Vec::<StepStatus>::new(), Vec::new());
    for step in &shape.steps {
        let lost = |d: &usize| match own[*d] {
            Skipped => true,
            Error | Timeout => shape.steps[*d].on_error == OnError::SkipDependents,
            Success => false,
        };
        let is_skipped = skipped || step.depends.iter().any(lost);
        let end = ends[*at];
        *at += 1;
        let (status, below) = match &step.inner {
            Some(inner) => {
                let (below, sum) = reference(inner, ends, at, is_skipped);
                (if is_skipped { Skipped } else { sum }, below)
            }
            None => (if is_skipped { Skipped } else { end }, Vec::new()),
        };
        own.push(status);
        all.push(status);
        all.extend(below);
    }
    let counts =
        |(step, status): (&Node, &StepStatus)| matches!(status, Error | Timeout) && step.failure == Failure::Counts;
    let failed = shape.steps.iter().zip(&own).any(counts);
    (all, if failed { Error } else { Success })
}

fn without_stops(shape: &mut Shape) {
    for step in &mut shape.steps {
        if step.on_error == OnError::Stop {
            step.on_error = OnError::SkipDependents;
        }
        step.inner.iter_mut().for_each(without_stops);
    }
}

/// Every step with what it waits for, by places in the whole tree: its own list, and the workflow it is in.
fn flat(shape: &Shape, owner: Option<usize>, next: &mut usize, out: &mut Vec<(Vec<usize>, Option<usize>)>) {
    let mut ids = Vec::new();
    for step in &shape.steps {
        let id = *next;
        *next += 1;
        ids.push(id);
        out.push((Vec::new(), owner));
        if let Some(inner) = &step.inner {
            flat(inner, Some(id), next, out);
        }
    }
    for (step, id) in shape.steps.iter().zip(&ids) {
        out[*id].0 = step.after.iter().chain(&step.depends).map(|at| ids[*at]).collect();
    }
}

/// Plays a tree with agents that end at any time; looks at every start.
fn checked(shape: &Shape, ends: &[StepStatus], most: usize, numbers: &mut Numbers, restart: bool) -> Machine {
    let mut waits = Vec::new();
    flat(shape, None, &mut 0, &mut waits);
    let mut machine = Machine::new(shape);
    let mut running: Vec<NodeId> = Vec::new();
    let mut begun = vec![0; ends.len()];
    loop {
        machine.settle();
        if restart {
            // As after a crash: nothing is known but how each step stands.
            let stages: Vec<Stage> = machine.ids().map(|id| machine.stage(id)).collect();
            machine = Machine::new(shape);
            for (at, stage) in stages.into_iter().enumerate() {
                match stage {
                    Stage::Waiting => {}
                    Stage::Running => machine.start(NodeId(at)),
                    Stage::Ended(status) => machine.end(NodeId(at), status),
                }
            }
            assert!(machine.settle().is_empty(), "a second look finds nothing new");
        }
        for id in machine.ready() {
            let (before, owner) = &waits[id.0];
            let has_ended = |at: &usize| matches!(machine.stage(NodeId(*at)), Stage::Ended(_));
            assert!(before.iter().all(has_ended), "{id:?} before what it waits for");
            assert!(owner.is_none_or(|owner| machine.stage(NodeId(owner)) == Stage::Running));
            if machine.is_inner(id) {
                begun[id.0] += 1;
                machine.start(id);
            } else if running.len() < most {
                begun[id.0] += 1;
                running.push(id);
                machine.start(id);
            }
        }
        if !running.is_empty() {
            let id = running.swap_remove(numbers.below(running.len()));
            machine.end(id, ends[id.0]);
        } else if machine.settle().is_empty() && machine.ready().is_empty() {
            break;
        }
    }
    assert!(begun.iter().all(|count| *count <= 1), "{begun:?}");
    for (at, count) in begun.iter().enumerate() {
        assert_eq!(machine.stage(NodeId(at)) == Stage::Ended(Skipped), *count == 0, "{at}");
    }
    machine
}

#[test]
fn random_trees_run_each_step_once_in_order_and_end_as_the_document_says() {
    for seed in 0..4000u64 {
        let mut numbers = Numbers(seed);
        let mut tree = random(&mut numbers, 2);
        let count = Machine::new(&tree).ids().count();
        let ends: Vec<StepStatus> = (0..count)
            .map(|_| [Success, Success, Success, Error, Timeout][numbers.below(5)])
            .collect();
        let most = 1 + numbers.below(4);
        let restart = numbers.below(2) == 0;
        let machine = checked(&tree, &ends, most, &mut numbers, restart);
        assert!(machine.over().is_some(), "seed {seed}: it never ends");
        without_stops(&mut tree);
        let machine = checked(&tree, &ends, most, &mut numbers, restart);
        let all: Vec<Stage> = machine.ids().map(|id| machine.stage(id)).collect();
        let (wanted, sum) = reference(&tree, &ends, &mut 0, false);
        let wanted: Vec<Stage> = wanted.into_iter().map(Stage::Ended).collect();
        assert_eq!((all, machine.over()), (wanted, Some(sum)), "seed {seed}: {tree:#?}");
    }
}
