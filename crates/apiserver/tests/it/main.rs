//! The server as its clients see it: through kube and through plain HTTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]
#![expect(clippy::too_many_lines, reason = "tables of requests and answers are long")]

mod access;
mod addresses;
mod admission;
mod aggregation;
mod apply;
mod built_in;
mod certificates;
mod connecting;
mod controllers;
mod conversion;
mod crud;
mod depth;
mod event_faults;
mod eviction;
mod faults;
mod forks;
mod front;
mod front_authentication;
mod hook;
mod kinds;
mod kubectl_session;
mod lifecycle;
mod monitoring;
mod namespaces;
mod notations;
mod protobuf;
mod read_faults;
mod releases;
mod rules;
mod scales;
mod services;
mod starting;
mod structural;
mod tokens;
mod type_errors;
mod typed;
mod upstream;
mod watches;
mod wire;
