//! The server as its clients see it: through kube and through plain HTTP.

mod admission;
mod crud;
mod hook;
mod wire;
