//! A worker as the scheduler will be one, without anything to run.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use glee_engine::store::{Claimed, Ending, Entry, Limits, Millis, New, Started, Store, StoreError, TaskId, Worker};
use serde_json::json;

const LIMITS: Limits = Limits {
    max_concurrent: 64,
    rate_limit_per_min: None,
};

fn open() -> Store {
    Store::open(&super::project()).expect("open the tasks")
}

pub(crate) fn fill(count: u32) {
    std::fs::create_dir_all("locks").expect("make a directory");
    let mut store = open();
    for n in 0..count {
        let new = New {
            caller: format!("caller-{}", n % 7).parse().expect("a name"),
            parent: None,
            session: None,
            agent: None,
            cli: None,
            request: json!(n),
            entry: Entry::Queue,
            waiter: None,
            step: None,
        };
        store.enqueue(&new, Millis::now()).expect("enqueue");
    }
}

pub(crate) fn wait_since(seconds: u64) {
    let new = New {
        caller: "somebody".parse().expect("a name"),
        parent: None,
        session: None,
        agent: None,
        cli: None,
        request: json!(0),
        entry: Entry::Approval,
        waiter: None,
        step: None,
    };
    let since = Millis(Millis::now().0 - seconds * 1000);
    super::say(open().enqueue(&new, since).expect("enqueue"));
}

pub(crate) fn counts() {
    for (state, count) in open().counts().expect("count") {
        super::say(format!("{} {count}", state.as_str()));
    }
}

pub(crate) fn work() {
    let mut store = open();
    let worker = Worker::this().expect("know this process");
    loop {
        match store.claim(&worker, &LIMITS, Millis::now()).expect("claim") {
            Claimed::Task(claim) => {
                let id = claim.task.id.clone();
                let lock = alone(&id);
                sleep(Duration::from_micros(300));
                match store.start(*claim, Millis(u64::MAX >> 2), Millis::now()) {
                    Ok(Started::Running(run)) => {
                        note("journal", &id);
                        sleep(Duration::from_millis(2));
                        let over = store.finish(run, Ending::Done, &json!("done"), Millis::now());
                        over.expect("a task of a living worker stays its own");
                    }
                    Ok(Started::Cancelled) => panic!("nobody cancels"),
                    Err(StoreError::Lost(id)) => panic!("a living worker lost {id}"),
                    Err(error) => panic!("{error}"),
                }
                drop(lock);
            }
            Claimed::Nothing | Claimed::Busy => {
                store.recover(Millis::now()).expect("recover");
                if store.counts().expect("count").iter().all(|(state, _)| state.is_final()) {
                    return;
                }
                sleep(Duration::from_millis(3));
            }
            Claimed::Later(_) => panic!("there is no rate"),
        }
    }
}

/// The kernel's word that nobody else who lives has claimed it. The lock of the dead is gone with them.
fn alone(id: &TaskId) -> File {
    let file = File::create(format!("locks/{id}")).expect("open a lock file");
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => note("violations", id),
        Err(TryLockError::Error(error)) => panic!("cannot lock: {error}"),
    }
    file
}

fn note(file: &str, id: &TaskId) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .expect("open the journal");
    file.write_all(format!("{id}\n").as_bytes())
        .expect("write to the journal");
}
