// Command cainjector runs cert-manager's CA injector from its exported packages.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	apireg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cert-manager/cert-manager/pkg/api"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
)

func main() {
	fs := pflag.NewFlagSet("cainjector", pflag.ContinueOnError)
	fs.ParseErrorsAllowlist.UnknownFlags = true
	kubeconfig := fs.String("kubeconfig", "", "path to a kubeconfig; empty: in-cluster")
	leNS := fs.String("leader-election-namespace", "kube-system", "")
	le := fs.Bool("leader-elect", true, "")
	metrics := fs.String("metrics-listen-address", "0", "")
	ns := fs.String("namespace", "", "")
	lc := logsapi.NewLoggingConfiguration()
	logf.AddFlagsNonDeprecated(lc, fs)
	if err := fs.Parse(os.Args[1:]); err != nil {
		fatal(err)
	}
	logs.InitLogs()
	if err := logf.ValidateAndApply(lc); err != nil {
		fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(logf.Log)
	cfg, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fatal(err)
	}
	cfg = util.RestConfigWithUserAgent(cfg, "cainjector")
	scheme := runtime.NewScheme()
	for _, f := range []func(*runtime.Scheme) error{kscheme.AddToScheme, apireg.AddToScheme, apiext.AddToScheme, api.AddToScheme} {
		utilruntime.Must(f(scheme))
	}
	d := func(t time.Duration) *time.Duration { return &t }
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: scheme, LeaderElection: *le, LeaderElectionNamespace: *leNS,
		LeaderElectionID: "cert-manager-cainjector-leader-election", LeaderElectionReleaseOnCancel: true,
		LeaseDuration: d(60 * time.Second), RenewDeadline: d(40 * time.Second), RetryPeriod: d(15 * time.Second),
		Metrics: ctrlmetrics.Options{BindAddress: *metrics},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}}})
	if err != nil {
		fatal(err)
	}
	if err := cainjector.RegisterAllInjectors(ctx, mgr, cainjector.SetupOptions{Namespace: *ns, EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{cainjector.MutatingWebhookConfigurationName: true, cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName: true, cainjector.CustomResourceDefinitionName: true}}); err != nil {
		fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		fatal(err)
	}
}

func fatal(err error) { fmt.Fprintln(os.Stderr, "cainjector:", err); os.Exit(1) }
