//! Kinds that the embedded API servers of a run serve as an aggregated API server does.

use substrate::embedded::TypedApi;

/// An API whose kinds have their rules in the API server instead of in the webhooks of a component.
#[derive(Debug)]
pub struct Aggregated {
    /// Its name in reports: `garden`.
    pub name: String,
    /// Its description in reports: `embedded API server with …`.
    pub description: String,
    /// The component whose webhooks have these rules where the kinds are custom resources: its cases about a request are
    /// sent to the server, which answers them without any webhook.
    pub component: String,
    /// The kinds.
    pub api: TypedApi,
}
