//! Controllers on the embedded API server, under a paused clock.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod caches;
mod connection;
mod controllers;
mod events;
mod leader;
mod tasks;
mod world;
