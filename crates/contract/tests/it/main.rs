//! Contracts as files: what loads, what is refused and where, what lint names.

mod embedded;
