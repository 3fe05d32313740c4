//! Runs: finds the project, chooses and trusts policies, launches the sandbox, writes the report.

pub mod agent;
pub mod catalog;
pub mod clauses;
pub mod consent;
pub mod container;
pub mod doctor;
pub mod egress;
pub mod host;
pub mod library;
mod mount_view;
mod plan_rows;
pub mod plan_view;
pub mod project;
pub mod report;
pub mod run;
pub mod select;
pub mod text;
pub mod trust;
