//! The house rules that no compiler knows, held on every file of the project.

mod ci;
mod contracts;
mod manifests;
mod names;
mod readers;
mod rooms;
mod sources;
mod tree;
mod vocabulary;
