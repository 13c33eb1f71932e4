//! Structural schemas of custom resources: pruning, defaulting, validation. Knows no request.

mod default;
mod prune;
mod rules;
mod schema;
mod validate;
mod versions;

pub(crate) use default::{default, lacks};
pub(crate) use prune::{drop_nulls, prune};
pub(crate) use rules::unreadable;
pub(crate) use schema::Schema;
pub(crate) use validate::validate;
pub(crate) use versions::Versions;
