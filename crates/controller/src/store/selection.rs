//! Which objects of a kind a store keeps, and which parts of them.

/// Selects objects of a kind `K`; by default all.
#[derive(Debug)]
pub struct Selection<K> {
    pub(crate) labels: Option<String>,
    pub(crate) fields: Option<String>,
    pub(crate) namespaces: Option<Vec<String>>,
    pub(crate) cluster_scoped: bool,
    pub(crate) may_be_absent: bool,
    pub(crate) reduction: Option<Reduction<K>>,
}

/// Removes unused fields; the name identifies the function.
#[derive(Debug)]
pub(crate) struct Reduction<K> {
    pub(crate) name: &'static str,
    pub(crate) reduce: fn(&mut K),
}

impl<K> Default for Selection<K> {
    fn default() -> Self {
        Self {
            labels: None,
            fields: None,
            namespaces: None,
            cluster_scoped: false,
            may_be_absent: false,
            reduction: None,
        }
    }
}

impl<K> Selection<K> {
    /// All objects, in the namespaces that the cluster is restricted to.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Only objects whose labels match, in `kubectl -l` notation.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Only objects whose fields match, as `metadata.name=x`.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Only objects in these namespaces, whatever the cluster is restricted to; empty: all.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces = Some(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// Declares the kind cluster-scoped, so that a restriction to namespaces does not apply. Typed kinds need no
    /// declaration.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.cluster_scoped = true;
        self
    }

    /// The kind may come and go with its definition; while it is absent, there are no objects.
    #[must_use]
    pub fn may_be_absent(mut self) -> Self {
        self.may_be_absent = true;
        self
    }

    /// Removes unused fields before an object is stored. Selections share a store if `name` is equal.
    #[must_use]
    pub fn reduced(mut self, name: &'static str, reduce: fn(&mut K)) -> Self {
        self.reduction = Some(Reduction { name, reduce });
        self
    }

    /// The key under which equal selections share a store.
    pub(crate) fn key(&self) -> SelectionKey {
        SelectionKey {
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            namespaces: self.namespaces.clone(),
            cluster_scoped: self.cluster_scoped,
            may_be_absent: self.may_be_absent,
            reduction: self.reduction.as_ref().map(|reduction| reduction.name),
        }
    }
}

/// The key under which equal selections share a store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SelectionKey {
    labels: Option<String>,
    fields: Option<String>,
    namespaces: Option<Vec<String>>,
    cluster_scoped: bool,
    may_be_absent: bool,
    reduction: Option<&'static str>,
}
