//! The binary as a person meets it: exit codes, messages, files.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world fails")]

mod action;
mod authoring;
mod check;
mod diff_run;
mod envtest;
mod gate;
<<<<<<< HEAD
mod init;
mod policy;
=======
mod kind;
>>>>>>> 9546d2f (kind: a run asks in a named cluster that is there, cleared of what an earlier run left; what is missing, broken or taken is told, tested with scripts; CI runs the kind suite)
mod program;
mod release_manager;
mod shards;
mod strange_targets;
mod versions;
