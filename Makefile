# Every target installs what it needs. `make help` tells what there is.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Evaluated after the install: on an older machine the project's own Node is part of it.
NODE = $$(tools/node.sh)
BIN = PATH="$$(dirname "$$(tools/node.sh)"):$$PATH" node_modules/.bin
INSTALLED := node_modules/.installed

.PHONY: help
help: ## Print this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# EBADENGINE and the like are about the Node that runs npm, not about the one that runs the project.
$(INSTALLED): package-lock.json package.json shared/package.json webhook/package.json reconciler/package.json report/package.json e2e/package.json
	@command -v npm >/dev/null 2>&1 || { echo "npm is missing: install Node >= 20 with npm first." >&2; exit 1; }
	@echo "Installing what package-lock.json names ..."
	@npm ci --no-audit --no-fund --loglevel=error
	@tools/node.sh >/dev/null
	@touch $@

.PHONY: install
install: $(INSTALLED) ## Install the npm packages, the project's own Node among them

.PHONY: test
test: lint unit ## Lint, type-check and run the unit and integration tests

.PHONY: unit
unit: $(INSTALLED)
	@$(BIN)/mocha

.PHONY: lint
lint: $(INSTALLED) ## Formatter, linter and type-checker, each as errors
	@$(BIN)/oxfmt --check .
	@$(BIN)/oxlint
	@$(BIN)/tsc -p .
	@$(BIN)/tsc -p report/page
	@$(NODE) tools/generate-docs.ts --check

.PHONY: generate
generate: $(INSTALLED) ## Write the generated docs anew
	@$(NODE) tools/generate-docs.ts

.PHONY: format
format: $(INSTALLED) ## Lay the sources out
	@$(BIN)/oxfmt .

.PHONY: bundle
bundle: $(INSTALLED) ## Build the command that the image ships, into dist/
	@$(NODE) tools/bundle.ts

.PHONY: demo
demo: bundle ## Watch the product work, without a cluster and without a cloud (MANIFESTS=dir for your own claims)
	@exec $(NODE) e2e/demo/main.ts $(if $(MANIFESTS),--manifests "$(MANIFESTS)")

.PHONY: e2e
e2e: bundle charts ## Test on a real Kubernetes API (Linux, Go, Python 3; or E2E_KUBECONFIG), and the charts
	@exec $(NODE) e2e/src/run.ts

.PHONY: charts
charts: $(INSTALLED) ## Check the chart, the overlays and the examples (Go)
	@$(NODE) e2e/charts/run.ts

.PHONY: image
image: bundle ## Build the image for amd64 and arm64 without a registry, into dist/ (Debian's apt and dpkg)
	@$(NODE) tools/image.ts

.PHONY: release
release: $(INSTALLED) ## Prepare VERSION=x.y.z: changelog, versions. DRY_RUN=1 also builds what the workflow would push
	@$(NODE) tools/release.ts "$(VERSION)"

.PHONY: clean
clean: ## Remove what was built and installed
	@rm -rf dist node_modules
