//! Runs the program like a user: checks exit codes, messages and files.

#![expect(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

mod action;
mod authoring;
mod check;
mod cluster_objects;
mod command_line;
mod diff_run;
mod env;
mod envtest;
mod envtest_assets;
mod explore;
mod gate;
mod image;
mod init;
mod kind;
mod other_extensions;
mod policy;
mod program;
mod record;
mod release_manager;
mod schedule;
mod schemas;
mod shards;
mod slips;
mod strange_targets;
mod versions;
mod versions_tables;
mod working_folder;
