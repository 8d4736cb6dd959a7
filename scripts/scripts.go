// Package scripts holds archmage.mk, for include from a Makefile. It is a
// package so that the go command finds the file in any module that requires
// this one, and so that go mod vendor takes it along.
package scripts
