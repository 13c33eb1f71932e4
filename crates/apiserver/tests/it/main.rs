//! The server as its clients see it: through kube and through plain HTTP.

mod crud;
mod wire;
