# SPDX-License-Identifier: MIT
#
#   make            builds into build/: the command build/kymo, the libraries, and the pkg-config
#                   files kymo-trace and kymo in build/meson-uninstalled
#   make demo       installs what is missing, builds, records a program and shows its trace
#   make test       installs what is missing, builds, runs the tests; ALL=1 installs the compilers for
#                   other machines, LTTng and DPDK too, so that no rung is skipped
#   make bench      measures; against LTTng-UST and DPDK where they are installed
#   make install    to PREFIX=/usr/local (DESTDIR= before it), and says what is left to do for that prefix
#   make clean      removes build/
BUILD = build
PREFIX = /usr/local
BUILDTYPE = debugoptimized
JOBS = $(shell nproc)

# there, meson would remove each header before copying it onto itself; refused before a build folder has that prefix
ifeq ($(realpath $(CURDIR)),$(realpath $(PREFIX)))
$(error PREFIX=$(PREFIX) is the folder of the source: choose another one)
endif

all: $(BUILD)/build.ninja
	ninja -C $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja:
	meson setup --prefix $(PREFIX) --buildtype $(BUILDTYPE) -Dtests=disabled $(BUILD)

demo:
	scripts/install-deps.sh build
	$(MAKE) --no-print-directory all
	scripts/demo.sh $(BUILD)

test:
	scripts/install-deps.sh test $(if $(ALL),all)
	$(MAKE) --no-print-directory all
	tests/run --build $(BUILD)

bench:
	scripts/install-deps.sh build
	$(MAKE) --no-print-directory all
	bench/run --build $(BUILD)

# a PREFIX that is given here may be another one than the build was set up with
install: $(BUILD)/build.ninja
	$(if $(filter command,$(firstword $(origin PREFIX))),meson configure -Dprefix=$(PREFIX) $(BUILD))
	$(MAKE) --no-print-directory all
	meson install -C $(BUILD) --no-rebuild --quiet
	$(if $(DESTDIR),,@sh $(BUILD)/after-install.sh)

clean:
	rm -rf $(BUILD)

.PHONY: all demo test bench install clean
