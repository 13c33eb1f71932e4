//! What chores and house rules share.

pub mod components;
