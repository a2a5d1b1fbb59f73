# SPDX-License-Identifier: Apache-2.0
# The front door. Meson and ninja do the building; each folder build*/ is one configuration of it.

PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/system
JOBS ?= $(shell nproc)
# Integration tests mostly wait, so there are more workers than cores.
TEST_WORKERS ?= 4
FUZZ_SECONDS ?= 20
RESULTS ?= build-results
PYTHON := /usr/bin/python3
CLANG := $(shell command -v ccache >/dev/null 2>&1 && echo "ccache clang" || echo clang)
SUMMARY := $(PYTHON) tools/test-summary.py
NINJA := ninja -j $(JOBS)
MODULES := pawl-http.so pawl-postgres.so

.DEFAULT_GOAL := all
.PHONY: servers all up check check-unit check-integration check-asan check-tsan fuzz bench lint format install uninstall clean help deps

## all: build into build/, leaves build/pawl and build/pawl-runner
all: build/build.ninja
	@$(NINJA) -C build pawl pawl-runner $(MODULES)
	@test -x build/pawl && test -x build/pawl-runner

build/build.ninja:
	@tools/deps.sh check build || { echo "'make up' or 'tools/deps.sh install build' installs it" >&2; exit 1; }
	meson setup build

## up: install what is missing, build, and run examples/pawl.yaml until Ctrl-C (its store: build/state/)
up:
	@tools/deps.sh install build
	@$(MAKE) --no-print-directory all
	@mkdir -p build/state
	@printf '\n  pawl runs examples/pawl.yaml now; Ctrl-C stops it. From a second terminal:\n\n'
	@printf '    export PAWL_DATABASE_URL=sqlite:%s\n' '$(CURDIR)/build/state/pawl.db'
	@printf '    build/pawl status        build/pawl runs        build/pawl logs -f hello        build/pawl run slow --wait\n\n'
	@build/pawl up -f examples/pawl.yaml --store build/state/pawl.db

## check: every test (units, replayed fuzz cases, integration); the last line counts them
check:
	@rm -rf $(RESULTS)/check && mkdir -p $(RESULTS)/check
	-@$(MAKE) --no-print-directory check-unit
	-@$(MAKE) --no-print-directory check-integration
	@$(SUMMARY) $(RESULTS)/check

deps:
	@tools/deps.sh install build test

# One configuration for the tests: debug, with the fault points. Both halves can be called alone.
CHECK_SETUP := meson setup build-check --buildtype=debug -Dfaults=true
build-check/build.ninja: | deps
	$(CHECK_SETUP) >/dev/null

check-unit: build-check/build.ninja
	@tools/run-suite.sh meson $(RESULTS)/check/unit build-check $(JOBS)

# PostgreSQL of other majors than Debian's, for the tests.
servers: | deps
	@tools/servers.sh build-servers

check-integration: build-check/build.ninja servers
	@tools/run-suite.sh pytest $(RESULTS)/check/integration build-check $(TEST_WORKERS) tests/integration

## check-asan: unit tests and an integration smoke under AddressSanitizer and UBSan
check-asan: | deps
	@rm -rf $(RESULTS)/asan && mkdir -p $(RESULTS)/asan
	@test -e build-asan/build.ninja || meson setup build-asan --buildtype=debugoptimized -Dfaults=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
	-@tools/run-suite.sh meson $(RESULTS)/asan/asan-unit build-asan $(JOBS)
	-@tools/run-suite.sh pytest $(RESULTS)/asan/asan-integration build-asan $(TEST_WORKERS) tests/integration -m smoke
	@$(SUMMARY) $(RESULTS)/asan

## check-tsan: the same under ThreadSanitizer
# GLib's own slices pass memory between threads under locks that the sanitizer does not see.
check-tsan: export G_SLICE = always-malloc
check-tsan: | deps
	@rm -rf $(RESULTS)/tsan && mkdir -p $(RESULTS)/tsan
	@test -e build-tsan/build.ninja || meson setup build-tsan --buildtype=debugoptimized -Dfaults=true -Db_sanitize=thread -Db_lundef=false >/dev/null
	-@tools/run-suite.sh meson $(RESULTS)/tsan/tsan-unit build-tsan $(JOBS)
	-@tools/run-suite.sh pytest $(RESULTS)/tsan/tsan-integration build-tsan $(TEST_WORKERS) tests/integration -m smoke
	@$(SUMMARY) $(RESULTS)/tsan

## fuzz: a short libFuzzer run of each target (FUZZ_SECONDS each); what it finds stays in build-fuzz/found/
fuzz:
	@tools/deps.sh install build ci
	@rm -rf $(RESULTS)/fuzz && mkdir -p $(RESULTS)/fuzz
	@test -e build-fuzz/build.ninja || CC="$(CLANG)" meson setup build-fuzz --buildtype=debugoptimized -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
	-@tools/run-suite.sh fuzz $(RESULTS)/fuzz/fuzz build-fuzz $(FUZZ_SECONDS)
	@$(SUMMARY) $(RESULTS)/fuzz

## bench: build for release and print every figure beside its raw limit (BENCH="--json", BENCH="--only next")
bench:
	@tools/deps.sh check build
	@test -e build-bench/build.ninja || meson setup build-bench --buildtype=release >/dev/null
	@$(NINJA) -C build-bench >/dev/null
	@$(PYTHON) bench/run --build build-bench $(BENCH)

## lint: format, clang-tidy, SQL headers, layers, SPDX lines, file lengths, shell and Python syntax
lint:
	@tools/deps.sh install build ci
	@rm -rf $(RESULTS)/lint && mkdir -p $(RESULTS)/lint
	@test -e build-check/build.ninja || $(CHECK_SETUP) >/dev/null
	-@tools/run-suite.sh lint $(RESULTS)/lint/lint build-check $(JOBS)
	@$(SUMMARY) $(RESULTS)/lint

## format: rewrite the C files as clang-format wants them
format:
	@git ls-files -co --exclude-standard 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' | xargs clang-format -i

## install: PREFIX (default /usr/local) and DESTDIR are honoured
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/pawl $(DESTDIR)$(PREFIX)/lib/pawl $(DESTDIR)$(UNITDIR) \
	  $(DESTDIR)$(PREFIX)/share/doc/pawl/guide $(DESTDIR)$(PREFIX)/share/doc/pawl/examples
	install -m 755 build/pawl $(DESTDIR)$(PREFIX)/bin/pawl
	install -m 755 build/pawl-runner $(DESTDIR)$(PREFIX)/libexec/pawl/pawl-runner
	install -m 644 $(MODULES:%=build/%) $(DESTDIR)$(PREFIX)/lib/pawl/
	sed 's|@PREFIX@|$(PREFIX)|g' packaging/pawl.service >build/pawl.service
	install -m 644 build/pawl.service $(DESTDIR)$(UNITDIR)/pawl.service
	sed 's|@PREFIX@|$(PREFIX)|g' packaging/pawl-replica.service >build/pawl-replica.service
	install -m 644 build/pawl-replica.service $(DESTDIR)$(UNITDIR)/pawl-replica.service
	install -m 644 README.md LICENSE $(DESTDIR)$(PREFIX)/share/doc/pawl/
	install -m 644 docs/guide/*.md $(DESTDIR)$(PREFIX)/share/doc/pawl/guide/
	install -m 644 examples/*.yaml $(DESTDIR)$(PREFIX)/share/doc/pawl/examples/

## uninstall: removes what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/pawl $(DESTDIR)$(UNITDIR)/pawl.service $(DESTDIR)$(UNITDIR)/pawl-replica.service
	rm -rf $(DESTDIR)$(PREFIX)/libexec/pawl $(DESTDIR)$(PREFIX)/lib/pawl $(DESTDIR)$(PREFIX)/share/doc/pawl

## clean: removes every build folder
clean:
	rm -rf build build-check build-asan build-tsan build-fuzz build-bench $(RESULTS)

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do printf '  make %-11s %s\n' "$$name" "$$text"; done
