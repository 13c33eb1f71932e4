//! Which rules of typed kinds apply to a request.

use webhook::rejection::Rejection;

/// Which rules of typed kinds apply to a request: a client in this process adds it to its requests as an extension; others are
/// under those of the server. It says nothing about other kinds. The types of objects, their metadata, and the separation of spec
/// and status hold always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypedRules {
    /// All rules of the strategy.
    #[default]
    All,
    /// All, but an update is not refused for what is wrong with the stored object already.
    Changes,
    /// Those for reading from the storage, which sets defaults, and the generation: the objects are there as if they had been
    /// stored before, whatever the strategy would say of them today.
    Stored,
    /// None: the server makes of an object what it would make of it without a strategy.
    None,
}

impl TypedRules {
    /// Whether the strategy prepares and judges objects.
    pub(super) fn judge(self) -> bool {
        matches!(self, Self::All | Self::Changes)
    }

    /// The judgement of an update without what is wrong with the stored object already, if these rules leave that out; `before`
    /// judges an update that changes nothing.
    pub(super) fn of_update(
        self,
        judged: Result<(), Rejection>,
        before: impl FnOnce() -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let Err(mut rejection) = judged else { return Ok(()) };
        if self != Self::Changes {
            return Err(rejection);
        }
        let Err(known) = before() else { return Err(rejection) };
        if rejection.errors.is_empty() {
            return if rejection == known { Ok(()) } else { Err(rejection) };
        }
        rejection.errors.retain(|error| !known.errors.contains(error));
        if rejection.errors.is_empty() { Ok(()) } else { Err(rejection) }
    }
}

#[cfg(test)]
mod tests {
    use webhook::field::{Error, Path};

    use super::*;

    fn invalid(fields: &[&str]) -> Rejection {
        let errors: Vec<Error> = fields.iter().map(|field| Error::required(&Path::new(field), "")).collect();
        Rejection::invalid("example.com", "Widget", "a", &errors)
    }

    #[test]
    fn an_update_is_refused_for_what_it_changes() {
        let (changes, all) = (TypedRules::Changes, TypedRules::All);
        let [one, both] = [invalid(&["spec.a"]), invalid(&["spec.a", "spec.b"])];
        let forbidden = Rejection::forbidden("no");
        let fields = |judged: Result<(), Rejection>| match judged {
            Ok(()) => Vec::new(),
            Err(rejection) => rejection.errors.into_iter().map(|error| error.field).collect(),
        };
        assert_eq!(fields(changes.of_update(Err(both.clone()), || Err(one.clone()))), ["spec.b"]);
        assert_eq!(changes.of_update(Err(one.clone()), || Err(both.clone())), Ok(()));
        assert_eq!(changes.of_update(Err(one.clone()), || Ok(())), Err(one.clone()));
        assert_eq!(changes.of_update(Err(forbidden.clone()), || Err(forbidden.clone())), Ok(()));
        assert_eq!(changes.of_update(Err(forbidden.clone()), || Err(one.clone())), Err(forbidden));
        assert_eq!(all.of_update(Err(one.clone()), || Err(one.clone())), Err(one));
    }
}
