//! The domain of a shoot.

object! {
    /// The domain of a shoot.
    Dns {
        /// The domain; never changes.
        domain: Option<String>,
        /// Who serves it.
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

    /// What is in and what is out.
    DnsIncludeExclude {
        /// What is in.
        include: Vec<String>,
        /// What is out.
        exclude: Vec<String>,
    }
}
