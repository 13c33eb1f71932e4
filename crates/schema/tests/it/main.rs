//! What the other rooms of the house rely on.

mod lookups;
mod types;
