//! The tables of tasks. What they forbid holds whatever the program around them does.

use crate::database::Form;

/// The longest request and the longest result, in bytes of JSON.
pub(super) const MOST_JSON: usize = 1 << 20;
/// Levels of tasks that start tasks.
pub(super) const DEEPEST: u32 = 8;
/// Tasks below one that no task asked for, however many levels down: those that are not over, all that there ever were, and the
/// bytes of their requests.
pub(super) const MOST_BELOW: u64 = 64;
pub(super) const MOST_EVER: u64 = 1000;
pub(super) const MOST_ASKED: u64 = 64 << 20;
/// Tasks that wait.
pub(super) const MOST_QUEUED: u64 = 10_000;

pub(super) const FORM: Form = Form {
    mark: 0x676c_7431,
    steps: &[
        "
        CREATE TABLE tasks (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
            parent TEXT REFERENCES tasks (id),
            depth INTEGER NOT NULL CHECK (depth BETWEEN 0 AND 8),
            caller TEXT NOT NULL CHECK (length(caller) BETWEEN 1 AND 64),
            session TEXT,
            agent TEXT,
            cli TEXT,
            state TEXT NOT NULL CHECK (state IN
                ('waiting', 'queued', 'claimed', 'running', 'done', 'failed', 'cancelled', 'timeout')),
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            cancel_asked INTEGER NOT NULL DEFAULT 0 CHECK (cancel_asked IN (0, 1)),
            created_at INTEGER NOT NULL,
            started_at INTEGER,
            finished_at INTEGER,
            worker_pid INTEGER,
            worker_start INTEGER,
            worker_boot TEXT,
            worker_namespace TEXT,
            lease_until INTEGER,
            request TEXT NOT NULL CHECK (json_valid(request) AND octet_length(request) <= 1048576),
            result TEXT CHECK (result IS NULL OR (json_valid(result) AND octet_length(result) <= 1048576)),
            CHECK ((parent IS NULL) = (depth = 0)),
            CHECK ((state IN ('claimed', 'running')) = (worker_pid IS NOT NULL)),
            CHECK ((worker_pid IS NULL) = (worker_start IS NULL)),
            CHECK ((worker_pid IS NULL) = (worker_boot IS NULL)),
            CHECK ((worker_pid IS NULL) = (worker_namespace IS NULL)),
            CHECK ((worker_pid IS NULL) = (lease_until IS NULL)),
            CHECK ((state IN ('done', 'failed', 'cancelled', 'timeout')) = (finished_at IS NOT NULL)),
            CHECK ((finished_at IS NULL) = (result IS NULL)),
            CHECK (state NOT IN ('running', 'done', 'timeout') OR started_at IS NOT NULL),
            CHECK (state NOT IN ('waiting', 'queued', 'claimed') OR started_at IS NULL)
        ) STRICT;
        CREATE INDEX tasks_by_state ON tasks (state, caller, seq);
        CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
        CREATE UNIQUE INDEX one_task_per_session ON tasks (session)
            WHERE session IS NOT NULL AND state IN ('claimed', 'running');
        CREATE TRIGGER tasks_begin BEFORE INSERT ON tasks
            WHEN NEW.state NOT IN ('waiting', 'queued') OR NEW.attempt <> 0
            BEGIN SELECT raise(ABORT, 'a task begins by waiting'); END;
        CREATE TRIGGER tasks_move BEFORE UPDATE OF state ON tasks
            WHEN (OLD.state, NEW.state) NOT IN (VALUES
                ('waiting', 'queued'), ('waiting', 'failed'), ('waiting', 'cancelled'),
                ('queued', 'claimed'), ('queued', 'cancelled'),
                ('claimed', 'queued'), ('claimed', 'running'), ('claimed', 'failed'), ('claimed', 'cancelled'),
                ('running', 'done'), ('running', 'failed'), ('running', 'cancelled'), ('running', 'timeout'))
            BEGIN SELECT raise(ABORT, 'this state does not follow that one'); END;
        CREATE TRIGGER tasks_stay BEFORE UPDATE ON tasks
            WHEN OLD.state IN ('done', 'failed', 'cancelled', 'timeout')
                OR NEW.id <> OLD.id OR NEW.parent IS NOT OLD.parent OR NEW.request <> OLD.request
            BEGIN SELECT raise(ABORT, 'this does not change'); END;
        CREATE TRIGGER tasks_go BEFORE DELETE ON tasks
            WHEN OLD.state NOT IN ('done', 'failed', 'cancelled', 'timeout')
            BEGIN SELECT raise(ABORT, 'the task is not over'); END;
        CREATE TABLE callers (
            caller TEXT PRIMARY KEY,
            served INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE starts (at INTEGER NOT NULL) STRICT;
        CREATE INDEX starts_by_time ON starts (at);
    ",
        "
        CREATE TABLE doing (
            task TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            text TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
    ",
        "
        CREATE TABLE waiters (
            task TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
            pid INTEGER NOT NULL,
            start INTEGER NOT NULL,
            boot TEXT NOT NULL,
            namespace TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
    ",
        "
        CREATE TABLE calls (
            id TEXT PRIMARY KEY CHECK (length(id) = 26),
            caller TEXT NOT NULL CHECK (length(caller) BETWEEN 1 AND 64),
            tool TEXT NOT NULL,
            arguments TEXT NOT NULL CHECK (json_valid(arguments) AND octet_length(arguments) <= 1048576),
            verdict TEXT CHECK (verdict IN ('approved', 'denied')),
            created_at INTEGER NOT NULL,
            UNIQUE (tool, arguments)
        ) STRICT, WITHOUT ROWID;
    ",
        FLOWS,
        "
        CREATE TABLE awaited (
            task TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
            until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
    ",
    ],
};

/// Runs of workflows.
const FLOWS: &str = "
        CREATE TABLE flows (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
            name TEXT NOT NULL,
            request TEXT NOT NULL CHECK (json_valid(request) AND octet_length(request) <= 1048576),
            state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'success', 'error', 'timeout', 'cancelled')),
            created_at INTEGER NOT NULL,
            finished_at INTEGER,
            used_ms INTEGER NOT NULL CHECK (used_ms >= 0),
            seen_at INTEGER NOT NULL,
            allowed INTEGER,
            cancel_asked INTEGER NOT NULL DEFAULT 0 CHECK (cancel_asked IN (0, 1)),
            worker_pid INTEGER,
            worker_start INTEGER,
            worker_boot TEXT,
            worker_namespace TEXT,
            result TEXT CHECK (result IS NULL OR json_valid(result)),
            CHECK ((worker_pid IS NULL) = (worker_start IS NULL)),
            CHECK ((worker_pid IS NULL) = (worker_boot IS NULL)),
            CHECK ((worker_pid IS NULL) = (worker_namespace IS NULL)),
            CHECK ((state IN ('running', 'paused')) = (finished_at IS NULL)),
            CHECK (finished_at IS NULL OR worker_pid IS NULL),
            CHECK ((finished_at IS NULL) = (result IS NULL))
        ) STRICT;
        CREATE TRIGGER flows_stay BEFORE UPDATE ON flows
            WHEN OLD.finished_at IS NOT NULL OR NEW.id <> OLD.id OR NEW.request <> OLD.request
            BEGIN SELECT raise(ABORT, 'this does not change'); END;
        CREATE TABLE flow_steps (
            flow TEXT NOT NULL REFERENCES flows (id) ON DELETE CASCADE,
            node INTEGER NOT NULL CHECK (node >= 0),
            path TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'success', 'error', 'timeout', 'skipped')),
            task TEXT UNIQUE,
            told TEXT CHECK (told IS NULL OR json_valid(told)),
            started_at INTEGER,
            finished_at INTEGER,
            result TEXT CHECK (result IS NULL OR json_valid(result)),
            input_tokens INTEGER,
            output_tokens INTEGER,
            cost INTEGER,
            PRIMARY KEY (flow, node),
            CHECK ((state IN ('waiting', 'running')) = (finished_at IS NULL)),
            CHECK ((finished_at IS NULL) = (result IS NULL)),
            CHECK (state <> 'running' OR started_at IS NOT NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER flow_steps_begin BEFORE INSERT ON flow_steps
            WHEN NEW.state <> 'waiting' OR NEW.task IS NOT NULL
            BEGIN SELECT raise(ABORT, 'a step begins by waiting'); END;
        CREATE TRIGGER flow_steps_move BEFORE UPDATE OF state ON flow_steps
            WHEN (OLD.state, NEW.state) NOT IN (VALUES
                ('waiting', 'running'), ('waiting', 'error'), ('waiting', 'skipped'),
                ('running', 'success'), ('running', 'error'), ('running', 'timeout'))
            BEGIN SELECT raise(ABORT, 'this state does not follow that one'); END;
        CREATE TRIGGER flow_steps_stay BEFORE UPDATE ON flow_steps
            WHEN OLD.finished_at IS NOT NULL OR NEW.flow <> OLD.flow OR NEW.node <> OLD.node OR NEW.path <> OLD.path
                OR (OLD.task IS NOT NULL AND NEW.task IS NOT OLD.task)
            BEGIN SELECT raise(ABORT, 'this does not change'); END;
    ";
