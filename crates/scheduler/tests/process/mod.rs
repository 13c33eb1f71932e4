//! The binary as a process.
