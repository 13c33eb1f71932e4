//! Decides about versions of shoots: which ones a user may choose, which admission fills in, which maintenance
//! updates to and when.
//!
//! Pure functions of the garden's kinds (`api::garden`): time is an argument, randomness a function, nothing is read or
//! written. Admission, controllers, simulations and contracts use the same functions.
//!
//! - [`admission`] — what admission fills in and refuses in a whole shoot;
//! - [`offer`] — versions of a profile at a time: previews, expired versions, the latest that qualifies;
//! - [`filling`] — the default for a missing or partial version;
//! - [`choice`] — whether a version or an image may be chosen;
//! - [`update`] — whether a version may follow another, and how old a pool's version may be;
//! - [`kubernetes`], [`image`] — to which version maintenance updates;
//! - [`maintenance`] — one maintenance of a whole shoot;
//! - [`window`] — maintenance windows;
//! - [`forecast`], [`rule`] — future updates of a shoot, and the rule of each;
//! - [`dates`] — the notation of expiration dates;
//! - [`profile`] — problems of a profile, before they affect shoots;
//! - [`support`] — which versions of Kubernetes Gardener itself supports;
//! - [`pool_hash`] — whether a worker pool rolls.
//!
//! Versions keep their text: `1.21.09` is chosen, compared and written as it is in the profile.

pub mod admission;
pub mod choice;
pub mod dates;
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
