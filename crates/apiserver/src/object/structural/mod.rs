//! Structural schemas of custom resources: pruning, defaulting, validation. Independent of requests.

mod default;
mod prune;
mod rules;
mod schema;
mod validate;
mod versions;

pub(crate) use default::{default, lacks_defaults};
pub(crate) use prune::{drop_nulls, drop_untyped_nulls, prune};
pub(crate) use rules::rule_error;
pub(crate) use schema::Schema;
pub(crate) use validate::{NO_FIELD, default_errors, make_relative_to_status, validate};
pub(crate) use versions::Versions;
