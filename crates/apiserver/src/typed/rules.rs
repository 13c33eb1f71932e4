//! Which rules of typed kinds apply to a request.

/// Which rules of typed kinds apply to a request: a client in this process adds it to its requests as an extension. It says
/// nothing about other kinds. The types of objects, their metadata, and the separation of spec and status hold always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypedRules {
    /// All rules of the strategy.
    #[default]
    All,
    /// Those for reading from the storage, which sets defaults, and the generation: the objects are there as if they had been
    /// stored before, whatever the strategy would say of them today.
    Stored,
    /// None: the server makes of an object what it would make of it without a strategy.
    None,
}
