//! Gardener kinds and well-known keys. Types only.
