package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
)

const configuration = "/etc/cni/net.d/10-pod-network.conflist"

// Tells the CNI plugins this node's pod range; the runtime is ready once the file is there.
func configure(n node) error {
	text := fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": "pod-network",
  "plugins": [
    {
      "type": "ptp",
      "mtu": 1500,
      "ipam": {
        "type": "host-local",
        "dataDir": "/run/cni-ipam",
        "ranges": [[{"subnet": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, n.Spec.PodCIDR)
	if old, err := os.ReadFile(configuration); err == nil && string(old) == text {
		return nil
	}
	unfinished := filepath.Join(filepath.Dir(configuration), ".unfinished")
	if err := os.WriteFile(unfinished, []byte(text), 0o644); err != nil {
		return fmt.Errorf("failed to write the CNI configuration: %w", err)
	}
	log.Printf("pods of this node are in %s", n.Spec.PodCIDR)
	return os.Rename(unfinished, configuration)
}

// Leads what is for another node's pods to that node.
func route(n node) error {
	_, pods, err := net.ParseCIDR(n.Spec.PodCIDR)
	if err != nil {
		return fmt.Errorf("failed to read the pod range of %s: %w", n.Metadata.Name, err)
	}
	for _, address := range n.Status.Addresses {
		if address.Type != "InternalIP" {
			continue
		}
		gateway := net.ParseIP(address.Address)
		if err := netlink.RouteReplace(&netlink.Route{Dst: pods, Gw: gateway}); err != nil {
			return fmt.Errorf("failed to route %s via %s: %w", pods, gateway, err)
		}
	}
	return nil
}

// Forgets the way to a node that is gone.
func unroute(n node) error {
	_, pods, err := net.ParseCIDR(n.Spec.PodCIDR)
	if err != nil {
		return nil
	}
	routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Dst: pods}, netlink.RT_FILTER_DST)
	if err != nil {
		return fmt.Errorf("failed to list routes to %s: %w", pods, err)
	}
	for i := range routes {
		if err := netlink.RouteDel(&routes[i]); err != nil {
			return fmt.Errorf("failed to remove the route to %s: %w", pods, err)
		}
	}
	return nil
}
