//! Which version a shoot may choose, which is filled in, and which one it is moved to and when.
//!
//! Pure decisions over the garden's kinds (`api::garden`): time is an argument, randomness a function, nothing is read or
//! written. Admission, controllers, simulations and contracts decide by the same functions.
//!
//! - [`admission`] — what is filled in and what is refused of a whole shoot;
//! - [`offer`] — what a profile offers at a time: previews, expired versions, the latest that qualifies;
//! - [`filling`] — a version that was left out or said in part;
//! - [`choice`] — whether a version or an image may be chosen;
//! - [`update`] — whether a version may follow another, and how far a pool may lie behind;
//! - [`kubernetes`], [`image`] — where maintenance moves one version;
//! - [`maintenance`] — one maintenance of a whole shoot;
//! - [`window`] — when it takes place;
//! - [`forecast`], [`rule`] — what becomes of a shoot while time goes by, and by which rule;
//! - [`profile`] — what is wrong with a profile before anybody is hurt;
//! - [`support`] — which versions of Kubernetes Gardener itself supports;
//! - [`pool_hash`] — whether a worker pool rolls.
//!
//! Versions keep the text they came with: `1.21.09` is chosen, compared and written as it stands in the profile.

pub mod admission;
pub mod choice;
pub mod filling;
pub mod forecast;
pub mod image;
pub mod kubernetes;
pub mod maintenance;
pub mod offer;
pub mod pool_hash;
pub mod profile;
mod refusal;
mod relation;
pub mod rule;
pub mod support;
pub mod update;
pub mod window;

pub use refusal::Refusal;
pub use relation::RelationError;
