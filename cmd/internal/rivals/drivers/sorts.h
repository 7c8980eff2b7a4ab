// The sorts of drivers in C++.
#pragma once

#include "driver.h"

#include <string_view>

namespace driver {

// random_elements returns n elements made of the numbers of splitmix64.
template <class F> auto random_elements(int n, F of) {
	std::vector<decltype(of(uint64_t()))> s(n);
	uint64_t state = 1;
	for (auto &x : s) {
		uint64_t z = (state += 0x9e3779b97f4a7c15);
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		x = of(z ^ (z >> 31));
	}
	return s;
}

// rising returns n integers in ascending order, with random differences.
inline std::vector<int64_t> rising(int n) {
	int64_t last = 0;
	return random_elements(n, [&](uint64_t x) { return last += int64_t(x >> 40); });
}

template <class T, class F> void sorted(const arguments &a, const std::vector<T> &input, F sort) {
	auto s = input, want = input;
	std::sort(want.begin(), want.end());
	print(a, [&] {
		s = input;
		auto took = timed([&] { sort(s); });
		if (s != want) {
			fail("wrong answer: the elements are not sorted");
		}
		return took;
	});
}

// sorts prints the time of sort, and returns false if the bench is not a sort.
template <class F> bool sorts(const arguments &a, F sort) {
	if (a.bench == "sort") {
		sorted(a, random_elements(a.n, [](uint64_t x) { return int64_t(x); }), sort);
	} else if (a.bench == "sort-floats") {
		sorted(a, random_elements(a.n, [](uint64_t x) { return double(int64_t(x) >> 11) / (1ll << 52); }), sort);
	} else if (a.bench == "sort-strings") {
		auto texts = random_elements(a.n, [](uint64_t x) { return std::to_string(x); });
		sorted(a, std::vector<std::string_view>(texts.begin(), texts.end()), sort);
	} else if (a.bench == "sort-few") {
		sorted(a, random_elements(a.n, [](uint64_t x) { return int64_t(x % 100); }), sort);
	} else if (a.bench == "sort-sorted") {
		sorted(a, rising(a.n), sort);
	} else if (a.bench == "sort-reversed") {
		auto falling = rising(a.n);
		std::reverse(falling.begin(), falling.end());
		sorted(a, falling, sort);
	} else {
		return false;
	}
	return true;
}

} // namespace driver
