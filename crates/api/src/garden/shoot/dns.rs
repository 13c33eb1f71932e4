//! The domain of a shoot.

object! {
    /// The domain of a shoot.
    Dns {
        /// The domain; immutable.
        domain: Option<String>,
        /// Its providers.
        providers: Vec<DnsProvider>,
    }

    /// A provider of DNS.
    DnsProvider {
        /// Domains that it serves. Deprecated.
        domains: Option<DnsIncludeExclude>,
        /// Whether it serves the shoot's own domain.
        primary: Option<bool>,
        /// The Secret with credentials; absent for the shoot's own.
        secret_name: Option<String>,
        /// Its type.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// Hosted zones that it serves. Deprecated.
        zones: Option<DnsIncludeExclude>,
    }

    /// Included and excluded values.
    DnsIncludeExclude {
        /// Included values.
        include: Vec<String>,
        /// Excluded values.
        exclude: Vec<String>,
    }
}
