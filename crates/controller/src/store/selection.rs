//! Which objects of a kind are kept, and how much of them.

/// Selects objects of a kind `K`; everything unless told otherwise.
#[derive(Debug)]
pub struct Selection<K> {
    pub(crate) labels: Option<String>,
    pub(crate) fields: Option<String>,
    pub(crate) namespaces: Option<Vec<String>>,
    pub(crate) cluster_scoped: bool,
    pub(crate) may_be_absent: bool,
    pub(crate) reduction: Option<Reduction<K>>,
}

/// Takes away what nobody reads, under a name.
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

    /// Only objects in these namespaces, whatever the cluster is restricted to; none are all.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces = Some(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// The kind has no namespaces, so a restriction to some does not concern it. Known of typed kinds.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.cluster_scoped = true;
        self
    }

    /// The kind may come and go with its definition; absent means that there are no objects.
    #[must_use]
    pub fn may_be_absent(mut self) -> Self {
        self.may_be_absent = true;
        self
    }

    /// Takes away what nobody reads before an object is kept. Stores are shared among those who say the same name.
    #[must_use]
    pub fn reduced(mut self, name: &'static str, reduce: fn(&mut K)) -> Self {
        self.reduction = Some(Reduction { name, reduce });
        self
    }

    /// What makes two selections of one kind the same.
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

/// What makes two selections of one kind the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SelectionKey {
    labels: Option<String>,
    fields: Option<String>,
    namespaces: Option<Vec<String>>,
    cluster_scoped: bool,
    may_be_absent: bool,
    reduction: Option<&'static str>,
}
