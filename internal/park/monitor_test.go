package park_test
