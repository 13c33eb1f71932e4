//! The webhooks by what they are about; each is a pure function over a request and facts about the runtime cluster.

pub mod garden;
