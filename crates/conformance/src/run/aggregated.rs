//! Kinds that the embedded API servers of a run serve as an aggregated API server does.

use schema::TypedKind;
use substrate::embedded::TypedApi;
use webhook::strategy::Strategy;

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
    pub(crate) api: TypedApi,
}

impl Aggregated {
    /// An API of these kinds, with their rules.
    #[must_use]
    pub fn new(
        name: &str,
        description: &str,
        component: &str,
        kinds: Vec<(TypedKind, &'static Strategy)>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            component: component.to_owned(),
            api: TypedApi::new(kinds),
        }
    }
}
