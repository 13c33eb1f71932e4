//! The binary as a person meets it: exit codes, messages, files.

mod authoring;
mod gate;
mod program;
mod strange_targets;
