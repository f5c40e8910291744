// Two mends of the TCP of ns-3 3.44, as subclasses: `--mend=prr`, `--mend=exit` or `--mend=both` of queues.cc.
//
// * PRR: with SACK what was delivered is known, and a duplicate ACK stands for nothing more (RFC 6937, section 3). ns-3 adds a
//   segment for each duplicate on top, so the window stays too large in recovery and overflows the queue again.
// * Exit: the ACK that ends a recovery sets the window to ssthresh. ns-3 opens it in addition by every segment that this ACK
//   covers, a whole window at times; RFC 6675 (section 5) and Linux do not.

#pragma once

#include "ns3/internet-module.h"

namespace ns3 {

// PRR that counts each duplicate once.
class OncePrrRecovery : public TcpPrrRecovery {
  public:
    static TypeId GetTypeId() {
        static TypeId id =
            TypeId("ns3::OncePrrRecovery").SetParent<TcpPrrRecovery>().AddConstructor<OncePrrRecovery>();
        return id;
    }

    void DoRecovery(Ptr<TcpSocketState> state, uint32_t delivered, bool) override {
        TcpPrrRecovery::DoRecovery(state, delivered, false);
    }

    Ptr<TcpRecoveryOps> Fork() override { return CopyObject<OncePrrRecovery>(this); }
};

// A congestion control that the ACK at the end of a recovery does not open besides.
template <class Control>
class QuietExit : public Control {
  public:
    void CongestionStateSet(Ptr<TcpSocketState> state, const TcpSocketState::TcpCongState_t next) override {
        left = state->m_congState == TcpSocketState::CA_RECOVERY && next == TcpSocketState::CA_OPEN;
        Control::CongestionStateSet(state, next);
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segments) override {
        if (!left) {
            Control::IncreaseWindow(state, segments);
        }
        left = false;
    }

  private:
    bool left = false;
};

class QuietTcpLinuxReno : public QuietExit<TcpLinuxReno> {
  public:
    static TypeId GetTypeId() {
        static TypeId id =
            TypeId("ns3::QuietTcpLinuxReno").SetParent<TcpLinuxReno>().AddConstructor<QuietTcpLinuxReno>();
        return id;
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<QuietTcpLinuxReno>(this); }
};

class QuietTcpCubic : public QuietExit<TcpCubic> {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("ns3::QuietTcpCubic").SetParent<TcpCubic>().AddConstructor<QuietTcpCubic>();
        return id;
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<QuietTcpCubic>(this); }
};

}  // namespace ns3
