//! The filters that exclude Seeds.

use std::fmt;

/// The filters, in their order. The last ones before [`Filter::LeastUsed`] belong to strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Filter {
    /// The Seed is not being deleted.
    Deletion,
    /// The Seed is visible.
    Visibility,
    /// The Seed's gardenlet has reported an operation.
    Operation,
    /// The Seed's gardenlet is ready.
    Gardenlet,
    /// The Seed's backup buckets are ready.
    BackupBuckets,
    /// The selector of the CloudProfile.
    CloudProfileSelector,
    /// The selector of the Shoot.
    ShootSelector,
    /// The provider's type.
    Provider,
    /// Zones for a highly available control plane.
    Zones,
    /// Networks that do not overlap.
    Networks,
    /// Taints and tolerations.
    Taints,
    /// Capacity for Shoots.
    Capacity,
    /// The provider of a Shoot for testing.
    TestingProvider,
    /// The strategy `SameRegion`.
    SameRegion,
    /// The strategy `MinimalDistance`, by configured distances.
    ConfiguredDistance,
    /// The strategy `MinimalDistance`, by the names of the regions.
    NameDistance,
    /// The number of Shoots.
    LeastUsed,
}

impl Filter {
    /// All filters, in their order.
    pub const ALL: [Self; 17] = [
        Self::Deletion,
        Self::Visibility,
        Self::Operation,
        Self::Gardenlet,
        Self::BackupBuckets,
        Self::CloudProfileSelector,
        Self::ShootSelector,
        Self::Provider,
        Self::Zones,
        Self::Networks,
        Self::Taints,
        Self::Capacity,
        Self::TestingProvider,
        Self::SameRegion,
        Self::ConfiguredDistance,
        Self::NameDistance,
        Self::LeastUsed,
    ];

    /// The clause that demands it.
    #[must_use]
    pub const fn clause(self) -> &'static str {
        self.texts().1
    }

    /// Its name and its clause.
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Deletion => ("deletion", "SCH-USE-002"),
            Self::Visibility => ("visibility", "SCH-USE-003"),
            Self::Operation => ("operation", "SCH-USE-004"),
            Self::Gardenlet => ("gardenlet", "SCH-USE-005"),
            Self::BackupBuckets => ("backup buckets", "SCH-USE-006"),
            Self::CloudProfileSelector => ("selector of the CloudProfile", "SCH-LBL-002"),
            Self::ShootSelector => ("selector of the Shoot", "SCH-LBL-003"),
            Self::Provider => ("provider", "SCH-PRV-001"),
            Self::Zones => ("zones", "SCH-ZON-001"),
            Self::Networks => ("networks", "SCH-NET-002"),
            Self::Taints => ("taints", "SCH-TNT-001"),
            Self::Capacity => ("capacity", "SCH-CAP-001"),
            Self::TestingProvider => ("provider of a Shoot for testing", "SCH-STR-001"),
            Self::SameRegion => ("region", "SCH-STR-002"),
            Self::ConfiguredDistance => ("configured distance", "SCH-RGN-001"),
            Self::NameDistance => ("distance of names", "SCH-STR-004"),
            Self::LeastUsed => ("least used", "SCH-LST-001"),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts().0)
    }
}
