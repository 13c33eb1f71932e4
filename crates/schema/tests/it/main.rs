//! What the other rooms of the house rely on.

mod documents;
mod lookups;
mod types;
