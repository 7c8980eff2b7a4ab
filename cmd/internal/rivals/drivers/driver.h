// What the drivers in C++ share: the arguments, the clock, the checks and the output. doc.go says what a driver does.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace driver {

using nanoseconds = double;

struct arguments {
	std::string bench;
	int workers;
	int n;
	double seconds;
};

inline arguments parse(int argc, char **argv) {
	if (argc != 5) {
		std::fprintf(stderr, "usage: driver BENCH WORKERS SIZE SECONDS\n");
		std::exit(2);
	}
	return {argv[1], std::atoi(argv[2]), std::atoi(argv[3]), std::atof(argv[4])};
}

[[noreturn]] inline void fail(const std::string &message) {
	std::fprintf(stderr, "%s\n", message.c_str());
	std::exit(1);
}

inline nanoseconds now() {
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// timed returns how long f takes.
template <class F> nanoseconds timed(F f) {
	auto start = now();
	f();
	return now() - start;
}

// print prints the median of the repetitions that fit into the time, at least three after the first.
inline void print(const arguments &a, const std::function<nanoseconds()> &repeat) {
	repeat();
	std::vector<nanoseconds> all;
	for (auto start = now(); all.size() < 3 || now() - start < a.seconds * 1e9;) {
		all.push_back(repeat());
	}
	std::sort(all.begin(), all.end());
	std::printf("%.0f\n", all[all.size() / 2]);
}

inline void expect(int64_t got, int64_t want) {
	if (got != want) {
		fail("wrong answer: " + std::to_string(got) + ", want " + std::to_string(want));
	}
}

inline int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// A board has queens in its first rows.
struct board {
	uint32_t all, columns, left, right;
	uint32_t free() const { return all & ~(columns | left | right); }
	board with(uint32_t column) const { return {all, columns | column, (left | column) << 1, (right | column) >> 1}; }
};

inline board empty_board(int n) { return {(1u << n) - 1, 0, 0, 0}; }

inline int queens(board b) {
	if (b.columns == b.all) {
		return 1;
	}
	int solutions = 0;
	for (auto free = b.free(); free != 0; free &= free - 1) {
		solutions += queens(b.with(free & -free));
	}
	return solutions;
}

constexpr int fat_children = 64;

// nodes returns the nodes of a tree.
inline int64_t nodes(int children, int depth) { return depth == 0 ? 1 : 1 + children * nodes(children, depth - 1); }

// answer prints the time of f, whose answer is known.
template <class F> void answer(const arguments &a, int64_t want, F f) {
	print(a, [&] {
		int64_t got;
		auto took = timed([&] { got = f(); });
		expect(got, want);
		return took;
	});
}

} // namespace driver
