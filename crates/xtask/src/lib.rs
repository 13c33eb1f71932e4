//! Code that chores and the tests of house rules share.

pub mod components;
