# SPDX-License-Identifier: BSD-2-Clause
# What the Makefile of every core shares. It sets, before it includes this:
#   name       of the program; the model's classes begin with V$(name)
#   verilog    files and options for Verilator, in their order;  top: the topmost module
#   defines    for the C++ files
#   headers    of Verilator that its folder replaces, in $(BUILD)/model; none if it sets none
# and is called with BUILD=<where to>, JOBS=<compilers at once>.

board := $(dir $(lastword $(MAKEFILE_LIST)))
JOBS  ?= 2

sources := $(wildcard *.cpp $(board)*.cpp)
objects := $(patsubst %.cpp,$(BUILD)/%.o,$(notdir $(sources)))
warnings := -Wall -Wextra -Wshadow -Werror
vpath %.cpp . $(board)

# Two states and no assertions: five times as fast.
translate := verilator --cc --prefix V$(name) --top-module $(top) -O3 --x-assign fast --x-initial fast \
	--noassert --no-timing -Wno-fatal --Mdir $(BUILD)/model
fast := -O2 -fno-plt
slow := -O0

flags := -std=c++17 $(fast) $(warnings) $(defines) -iquote . -iquote $(board) -isystem $(BUILD)/model \
	$(addprefix -isystem $(shell verilator --getenv VERILATOR_ROOT)/,include include/vltstd)

.PHONY: all model
all: $(BUILD)/$(name)
model: $(BUILD)/model/V$(name).mk

$(BUILD)/model/V$(name).mk: $(filter %.v %.sv %.vlt,$(verilog))
	@mkdir -p $(@D)
	@echo "translating the Verilog"
	$(translate) $(verilog) > $(BUILD)/translate.log 2>&1 || (tail -3 $(BUILD)/translate.log >&2; false)

$(BUILD)/model/V$(name)__ALL.a: $(BUILD)/model/V$(name).mk $(headers)
	@echo "compiling the model"
	$(MAKE) --no-print-directory -s -j $(JOBS) -C $(BUILD)/model -f V$(name).mk OPT_FAST="$(fast)" \
		OPT_SLOW="$(slow)" OPT_GLOBAL="$(fast)" VM_PARALLEL_BUILDS=1 \
		V$(name)__ALL.a verilated.o verilated_threads.o

$(BUILD)/%.o: %.cpp $(wildcard *.h $(board)*.h) $(BUILD)/model/V$(name).mk $(headers)
	$(CXX) $(flags) -c $< -o $@

$(BUILD)/$(name): $(objects) $(BUILD)/model/V$(name)__ALL.a
	$(CXX) $(fast) -o $@ $(objects) $(BUILD)/model/V$(name)__ALL.a \
		$(BUILD)/model/verilated.o $(BUILD)/model/verilated_threads.o -pthread
