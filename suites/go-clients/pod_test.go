package clients

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// podSpec has every form of value that protobuf writes differently from JSON.
func podSpec() corev1.PodSpec {
	secret := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k", Optional: ptr.To(true)}
	memory := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("1500m")}
	probe := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}}
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "web", Image: "web:1",
			Env: []corev1.EnvVar{
				{Name: "PLAIN", Value: "é"},
				{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &secret}},
			},
			Ports:         []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources:     corev1.ResourceRequirements{Limits: memory, Requests: memory},
			LivenessProbe: &corev1.Probe{ProbeHandler: probe, PeriodSeconds: 10, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3},
			SecurityContext: &corev1.SecurityContext{
				RunAsUser: ptr.To[int64](0), RunAsNonRoot: ptr.To(false),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}, {Name: "side", Image: "side:1"}},
		Volumes: []corev1.Volume{
			{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("1Gi"))}}},
		},
		Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](0)}},
		TerminationGracePeriodSeconds: ptr.To[int64](5),
	}
}
